"""The embedded server under what really happens: threads, processes, crashes, odd folders, root."""

import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import psycopg
import pytest

from core.db import binaries
from core.db.cluster import Cluster
from core.db.embedded import EmbeddedPostgres
from core.errors import DatabaseDown
from tests.conftest import ROOT

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change its user")

USER = """
import sys
from pathlib import Path
import psycopg
from core.db.embedded import EmbeddedPostgres
server = EmbeddedPostgres(Path(sys.argv[1]))
with psycopg.connect(server.start()) as connection:
    connection.execute("CREATE TABLE IF NOT EXISTS visits (pid int)")
    connection.execute("INSERT INTO visits VALUES (pg_backend_pid())")
print("up", flush=True)
sys.stdin.readline()
server.stop()
"""


def servers_in(folder: Path) -> list[psutil.Process]:
    """The PostgreSQL servers (not their children) that work somewhere in a folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.name() == "postgres" and process.status() != psutil.STATUS_ZOMBIE:
                inside = Path(process.cwd()).is_relative_to(folder.resolve())
                parent = process.parent()
                if inside and (parent is None or parent.name() != "postgres"):
                    found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A cold folder; whatever server is left in it fails the test."""
    yield tmp_path / "postgres"
    left = servers_in(tmp_path)
    for process in left:
        process.kill()
    assert left == []


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that has been set up, its server stopped."""
    folder = tmp_path_factory.mktemp("prepared") / "postgres"
    with EmbeddedPostgres(folder):
        pass
    return folder


@pytest.fixture
def warm(prepared: Path) -> Iterator[Path]:
    """The folder that has been set up; its server must be stopped at the end."""
    yield prepared
    left = servers_in(prepared)
    for process in left:
        process.kill()
    assert left == []


@pytest.fixture
def spawn() -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """Start other processes that use a folder; they have it when this returns."""
    processes = []

    def start(folder: Path) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-c", USER, str(folder)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def is_up(process: "subprocess.Popen[str]") -> bool:
    return process.stdout is not None and process.stdout.readline() == "up\n"


def leave(process: "subprocess.Popen[str]") -> int:
    process.communicate("\n", timeout=60)
    return process.returncode


def ask(url: str, query: str = "SELECT 1") -> object:
    with psycopg.connect(url) as connection:
        row = connection.execute(query).fetchone()
    return row[0] if row else None


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_eight_threads_on_a_cold_folder_start_one_server(folder: Path) -> None:
    servers = [EmbeddedPostgres(folder) for _ in range(8)]
    barrier = threading.Barrier(8)

    def start(server: EmbeddedPostgres) -> str:
        barrier.wait()
        return server.start()

    with ThreadPoolExecutor(8) as pool:
        urls = set(pool.map(start, servers))
    assert len(urls) == 1
    assert len(servers_in(folder)) == 1
    for server in servers[:7]:
        server.stop()
        server.stop()
    assert ask(urls.pop()) == 1
    servers[7].stop()
    assert servers_in(folder) == []


def test_threads_sharing_one_object_start_one_server(warm: Path) -> None:
    server = EmbeddedPostgres(warm)
    with ThreadPoolExecutor(4) as pool:
        assert len({*pool.map(lambda _: server.start(), range(8))}) == 1
    assert len(servers_in(warm)) == 1
    server.stop()


def test_two_processes_share_a_cold_folder(folder: Path, spawn) -> None:
    first, second = spawn(folder), spawn(folder)
    assert is_up(first)
    assert is_up(second)
    assert len(servers_in(folder)) == 1
    assert leave(first) == 0
    with EmbeddedPostgres(folder) as url:
        assert ask(url, "SELECT count(*) FROM visits") == 2
    assert len(servers_in(folder)) == 1
    assert leave(second) == 0
    assert servers_in(folder) == []


def test_after_sigkill_of_its_starter_the_next_user_stops_the_server(warm: Path, spawn) -> None:
    starter = spawn(warm)
    assert is_up(starter)
    (before,) = servers_in(warm)
    starter.kill()
    starter.wait()
    assert ask(Cluster(warm).url()) == 1
    with EmbeddedPostgres(warm) as url:
        assert ask(url) == 1
        assert [process.pid for process in servers_in(warm)] == [before.pid]
    assert gone(before.pid)


def test_a_process_that_ends_without_stopping_leaves_no_server(warm: Path) -> None:
    code = USER.partition("print")[0]
    subprocess.run([sys.executable, "-c", code, str(warm)], cwd=ROOT, check=True, timeout=60)
    assert servers_in(warm) == []


def test_a_forked_child_does_not_stop_its_parents_server(warm: Path) -> None:
    code = USER.partition("print")[0] + (
        "import os\n"
        "if os.fork() == 0: server.stop(); sys.exit(0)\n"
        "assert os.waitstatus_to_exitcode(os.wait()[1]) == 0\n"
        "psycopg.connect(server.start()).close()\n"
    )
    subprocess.run([sys.executable, "-c", code, str(warm)], cwd=ROOT, check=True, timeout=60)


@pytest.mark.parametrize("whose", ["somebody", "ourselves", "another server"])
def test_a_stale_pid_file_is_not_believed(warm: Path, folder: Path, whose: str) -> None:
    with EmbeddedPostgres(warm):
        pid_file = Cluster(warm).data / "postmaster.pid"
        lines = pid_file.read_text().splitlines()
    somebody = subprocess.Popen(["sleep", "60"])
    other = EmbeddedPostgres(folder)
    pid = {"somebody": somebody.pid, "ourselves": os.getpid()}.get(whose)
    if pid is None:
        other.start()
        pid = servers_in(folder)[0].pid
    try:
        pid_file.write_text("\n".join([str(pid), *lines[1:], ""]))
        with EmbeddedPostgres(warm) as url:
            assert ask(url) == 1
            assert servers_in(warm)[0].pid != pid
        assert not gone(pid)
    finally:
        other.stop()
        somebody.kill()
        somebody.wait()


def test_nonsense_in_the_pid_file_is_not_believed(warm: Path) -> None:
    for text in ("", "nonsense\n", "-1\n", "999999999999\n"):
        (Cluster(warm).data / "postmaster.pid").write_text(text)
        with EmbeddedPostgres(warm) as url:
            assert ask(url) == 1


def test_a_server_that_was_killed_recovers(warm: Path) -> None:
    server = EmbeddedPostgres(warm)
    url = server.start()
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n")
    (killed,) = servers_in(warm)
    killed.kill()
    killed.wait()
    assert server.start() == url, "pools made before must find the server again"
    assert ask(url, "SELECT count(*) FROM kept") == 1000
    (killed,) = servers_in(warm)
    killed.kill()
    server.stop()
    with EmbeddedPostgres(warm) as url, psycopg.connect(url) as connection:
        assert connection.execute("DROP TABLE kept")


def test_a_backend_left_over_by_a_crash_does_not_block_the_start(warm: Path) -> None:
    server = EmbeddedPostgres(warm)
    connection = psycopg.connect(server.start())
    (postmaster,) = servers_in(warm)
    backend = psutil.Process(connection.info.backend_pid)
    backend.suspend()  # it cannot notice that its server dies
    postmaster.kill()
    try:
        assert ask(server.start()) == 1
    finally:
        if backend.is_running():
            backend.kill()
        server.stop()
        connection.close()


def test_a_socket_removed_under_the_server_is_made_again(warm: Path) -> None:
    server = EmbeddedPostgres(warm)
    url = server.start()
    folder = Cluster(warm).socket_folder()
    assert folder is not None
    shutil.rmtree(folder)
    assert server.start() == url
    assert ask(url) == 1
    server.stop()


def test_a_set_up_that_was_killed_is_begun_afresh(folder: Path, spawn) -> None:
    starter = spawn(folder)
    deadline = time.monotonic() + 60
    while not [*folder.glob("new-*/pgdata/base/1/*")]:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    starter.kill()
    assert not Cluster(folder).exists
    with EmbeddedPostgres(folder) as url:
        assert ask(url) == 1
    with EmbeddedPostgres(folder):
        pass
    assert [*folder.glob("new-*")] == []


@pytest.mark.parametrize(
    "name",
    [
        "with space",
        "论文 数据库",
        'it\'s $HOME `id` "quoted"',
        "/".join(["long " + "路" * 60] * 7),
    ],
    ids=["space", "chinese", "shell", "long"],
)
def test_any_folder_will_do(folder: Path, name: str) -> None:
    place = folder / name
    with EmbeddedPostgres(place) as url:
        assert ask(url) == 1
        assert len(servers_in(place)) == 1
        socket_folder = Cluster(place).socket_folder()
        assert socket_folder is not None
        assert len(os.fsencode(socket_folder / ".s.PGSQL.5432")) < 100
    assert not socket_folder.exists()


def test_nobody_else_gets_in(warm: Path) -> None:
    with EmbeddedPostgres(warm) as url:
        cluster = Cluster(warm)
        assert ask(url, "SHOW listen_addresses") == ""
        assert ask(url, "SHOW fsync") == "on"
        for path, mode in (
            (warm / "cluster" / "password", 0o600),
            (cluster.socket_folder(), 0o700),
            (cluster.data, 0o700),
        ):
            assert stat.S_IMODE(path.stat().st_mode) == mode
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(url.replace(cluster.password(), "guess"))
        (server,) = servers_in(warm)
        said = (cluster.data / "server.log").read_text(errors="replace")
        assert cluster.password() not in " ".join([*server.cmdline(), said])
        assert not [c for c in server.net_connections() if c.family != psutil.AF_LINK and c.laddr]


def test_text_is_utf8_and_its_order_the_same_on_every_machine(warm: Path) -> None:
    with EmbeddedPostgres(warm) as url:
        assert ask(url, "SHOW server_encoding") == "UTF8"
        assert (
            ask(url, "SELECT datlocprovider::text || datlocale FROM pg_database LIMIT 1")
            == "bC.UTF-8"
        )
        assert ask(url, "SELECT lower('ÄÉ') || (U&'\\4E2D' ~ '\\w')") == "äétrue"


def test_a_socket_folder_that_is_not_ours_is_not_used(warm: Path, tmp_path: Path) -> None:
    with EmbeddedPostgres(warm):
        usual = Cluster(warm).socket_folder()
    assert usual is not None
    usual.symlink_to(tmp_path)
    try:
        with EmbeddedPostgres(warm) as url:
            assert ask(url) == 1
            assert Cluster(warm).socket_folder() == usual.with_name(f"{usual.name}-1")
    finally:
        usual.unlink()
    assert [*tmp_path.iterdir()] == []
    usual.mkdir(mode=0o777)
    usual.chmod(0o777)
    try:
        with EmbeddedPostgres(warm):
            assert Cluster(warm).socket_folder() == usual.with_name(f"{usual.name}-1")
    finally:
        usual.rmdir()


def test_a_folder_that_cannot_be_one_gives_a_hint(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(DatabaseDown) as caught:
        EmbeddedPostgres(tmp_path / "file" / "postgres").start()
    assert "LECTERN_DATA_DIR" in caught.value.hint


def test_no_programs_say_what_to_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binaries, "PACKAGE", "no_such_package")
    with pytest.raises(DatabaseDown) as caught:
        EmbeddedPostgres(folder).start()
    assert "DATABASE_URL" in caught.value.hint


def test_a_lost_password_says_what_to_do(folder: Path, warm: Path) -> None:
    password = warm / "cluster" / "password"
    kept = password.read_text()
    password.unlink()
    try:
        with pytest.raises(DatabaseDown, match="password"):
            EmbeddedPostgres(warm).start()
    finally:
        password.write_text(kept)


@needs_root
def test_a_full_disk_is_called_that(folder: Path) -> None:
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("no small disk can be mounted here")
    try:
        with pytest.raises(DatabaseDown, match="disk is full") as caught:
            EmbeddedPostgres(folder).start()
        assert "space" in caught.value.hint
        assert [*folder.glob("new-*")] == []
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@needs_root
def test_root_is_served_without_opening_its_home() -> None:
    home = Path(pwd.getpwuid(0).pw_dir)
    with tempfile.TemporaryDirectory(prefix="lectern test ", dir=home) as private:
        place = Path(private) / "postgres"
        modes = {path: path.stat().st_mode for path in (home, Path(private))}
        with EmbeddedPostgres(place) as url:
            assert ask(url) == 1
            assert ask(url, "SELECT '[1,2]'::text") == "[1,2]"
            with psycopg.connect(url) as connection:
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            (server,) = servers_in(place)
            assert 0 not in server.uids()
            assert 0 not in server.gids()
            assert Path(f"/proc/{server.pid}/status").read_text().count("CapEff:\t0000000000000000")
        with EmbeddedPostgres(place) as url:
            assert ask(url) == 1
        assert {path: path.stat().st_mode for path in modes} == modes
        assert servers_in(place) == []


@needs_root
def test_root_is_served_when_lectern_itself_is_in_its_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Path(pwd.getpwuid(0).pw_dir)
    found = binaries.find_programs()
    package = found.parent.parent
    with tempfile.TemporaryDirectory(dir=home) as private:
        for path in (package, package.with_name(f"{package.name}.libs")):
            shutil.copytree(path, Path(private) / path.name, copy_function=os.link)
        hidden = Path(private) / found.relative_to(package.parent)
        monkeypatch.setattr(binaries, "find_programs", lambda version: hidden)
        account = binaries.Account(binaries.SERVER_UID, binaries.SERVER_UID)
        programs = binaries.programs_for(account)
        copy = programs.folder.parents[2]
        try:
            assert programs.folder != hidden
            assert binaries.programs_for(account) == programs
            with EmbeddedPostgres(Path(private) / "postgres") as url:
                with psycopg.connect(url) as connection:
                    connection.execute("CREATE EXTENSION vector")
                    distance = connection.execute("SELECT '[1,2]'::vector <-> '[1,5]'").fetchone()
                assert distance == (3.0,)
        finally:
            shutil.rmtree(copy)


class OtherUser:
    """A forked child that uses a folder as an ordinary user.

    Forked, since that user may not be allowed to run the interpreter of the tests.
    """

    def __init__(self, folder: Path, uid: int, gid: int) -> None:
        answers, answer = os.pipe()
        order, self._orders = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.setgroups([])
                os.setgid(gid)
                os.setuid(uid)
                server = EmbeddedPostgres(folder)
                works = ask(server.start()) == 1
                os.write(answer, b"up" if works else b"no")
                os.read(order, 1)
                server.stop()
                status = 0
            except DatabaseDown as error:
                os.write(answer, f"{error.message} {error.hint}".encode())
            finally:
                os._exit(status)
        os.close(answer)
        os.close(order)
        self.said = os.read(answers, 1000).decode()
        os.close(answers)

    def leave(self) -> int:
        os.write(self._orders, b"\n")
        os.close(self._orders)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@needs_root
def test_an_ordinary_user_is_served_as_himself() -> None:
    nobody = pwd.getpwnam("nobody")
    place = Path(tempfile.mkdtemp())
    os.chown(place, nobody.pw_uid, nobody.pw_gid)
    try:
        user = OtherUser(place / "postgres", nobody.pw_uid, nobody.pw_gid)
        assert user.said == "up"
        (server,) = servers_in(place)
        assert server.uids().real == nobody.pw_uid
        assert str(place) in " ".join(server.cmdline())
        with EmbeddedPostgres(place / "postgres") as url:
            assert ask(url) == 1
        assert user.leave() == 0
        assert servers_in(place) == []
        with EmbeddedPostgres(place / "postgres") as url:  # root is served, and leaves no trace
            assert ask(url) == 1
            assert servers_in(place)[0].uids().real == nobody.pw_uid
        again = OtherUser(place / "postgres", nobody.pw_uid, nobody.pw_gid)
        assert again.said == "up"
        assert again.leave() == 0
    finally:
        left = servers_in(place)
        for process in left:
            process.kill()
        shutil.rmtree(place)
    assert left == []


@needs_root
def test_an_ordinary_user_is_kept_out_of_anothers_folder(warm: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    with EmbeddedPostgres(warm):
        user = OtherUser(warm, nobody.pw_uid, nobody.pw_gid)
        assert "Permission denied" in user.said
        assert os.waitstatus_to_exitcode(os.waitpid(user.pid, 0)[1]) == 1


@needs_root
def test_a_user_without_a_name_is_told_so() -> None:
    place = Path(tempfile.mkdtemp())
    os.chown(place, 64321, 64321)
    try:
        user = OtherUser(place / "postgres", 64321, 64321)
        assert "no name on this system" in user.said
        assert "DATABASE_URL" in user.said
        os.waitpid(user.pid, 0)
        assert [*place.glob("postgres/new-*")] == []
    finally:
        shutil.rmtree(place)


@needs_root
def test_root_that_may_not_change_its_user_is_told_so(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from core.db.embedded import EmbeddedPostgres\n"
        "from core.errors import DatabaseDown\n"
        "try: EmbeddedPostgres(Path(sys.argv[1])).start()\n"
        "except DatabaseDown as error: sys.exit(error.hint)\n"
    )
    command = ["unshare", "--user", "--map-root-user", sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if "unshare" in done.stderr:
        pytest.skip("no user namespaces here")
    assert "as another user" in done.stderr
    assert [*tmp_path.glob("new-*")] == []
