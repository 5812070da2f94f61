import { existsSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';

/** The reason why no container can run here; undefined if one can. */
export async function noContainerEngineReason(): Promise<string | undefined> {
  const reason = 'no container engine answers';
  if (!mayBeThere()) return reason;
  const { getContainerRuntimeClient } = await import('testcontainers');
  try {
    await getContainerRuntimeClient();
    return undefined;
  } catch {
    return reason;
  }
}

/** Whether there is a socket where testcontainers looks. Loading testcontainers itself takes a second. */
function mayBeThere(): boolean {
  const { DOCKER_HOST: host, XDG_RUNTIME_DIR: runtimeDirectory } = process.env;
  if (host !== undefined || process.platform === 'win32') return true;
  return [
    '/var/run/docker.sock',
    ...(runtimeDirectory === undefined ? [] : [join(runtimeDirectory, 'docker.sock')]),
    join(homedir(), '.docker/run/docker.sock'),
    join(homedir(), '.docker/desktop/docker.sock'),
    join('/run/user', String(userInfo().uid), 'docker.sock'),
    join(homedir(), '.testcontainers.properties'),
  ].some((path) => existsSync(path));
}
