import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { runProgram } from '../../../image/run-program.ts';
import { GatehouseProcess } from '../cli.ts';
import { whyMissing } from '../missing-program.ts';
import type { TemporaryDirectory } from '../temporary-directory.ts';
import type { BuiltImage } from './built-image.ts';

/** Why containers cannot run here; undefined if they can. */
export const noContainerReason: string | undefined =
  process.getuid?.() === 0 ? whyMissing('runc') : 'only root can run containers with runc';

/** What a container is given besides its image. */
export interface ContainerOptions {
  readonly image: BuiltImage;
  readonly args: readonly string[];
  /** Holds the container's files, and is in the container under its own name, for reading. */
  readonly directory: TemporaryDirectory;
  readonly environment?: readonly string[];
  /** Runs in place of the entry point of the image. */
  readonly entrypoint?: readonly string[];
  /** Whether it may write to /tmp, as to an emptyDir of a pod. */
  readonly writesToTmp?: boolean;
}

interface ContainerCommand {
  readonly id: string;
  /** How runc is called for this container. */
  readonly runc: readonly [string, ...(readonly string[])];
  readonly args: readonly string[];
}

const TMP = {
  destination: '/tmp',
  type: 'tmpfs',
  source: 'tmpfs',
  options: ['nosuid', 'mode=1777'],
};

/** runc passes the signal on to its container. */
const END_WITH_PARENT = ['--pdeathsig', 'TERM'];

/** Starts a container with a command that keeps running and logs, as {@link containerCommand} describes. */
export async function startContainer(options: ContainerOptions): Promise<GatehouseProcess> {
  const { id, runc, args } = await containerCommand(options);
  const child = spawn('setpriv', [...END_WITH_PARENT, ...runc, ...args]);
  // A runc that is killed leaves its container behind.
  child.once('exit', () => execFile(runc[0], [...runc.slice(1), 'delete', '--force', id]));
  return new GatehouseProcess(child);
}

/** Runs a container to its end, as {@link containerCommand} describes. Returns what it prints. */
export async function runContainer(options: ContainerOptions): Promise<string> {
  const { runc, args } = await containerCommand(options);
  const [program, ...root] = runc;
  return runProgram(program, [...root, ...args]);
}

/**
 * The command that runs a container of an image as a restricted pod does: read-only, without capabilities,
 * with processes of its own, as the user of the image. It has the network of this machine.
 */
async function containerCommand(options: ContainerOptions): Promise<ContainerCommand> {
  const id = `gatehouse-${randomUUID()}`;
  const bundle = join(options.directory.path, id);
  await mkdir(bundle);
  await writeFile(join(bundle, 'config.json'), JSON.stringify(await runtimeConfig(options)));
  const state = join(options.directory.path, 'runc');
  return { id, runc: ['runc', '--root', state], args: ['run', '--bundle', bundle, id] };
}

/** OCI runtime specification, "Configuration". */
async function runtimeConfig(options: ContainerOptions): Promise<object> {
  const { image, args, directory, environment = [] } = options;
  const { config } = await image.config();
  const { entrypoint = config.Entrypoint, writesToTmp = false } = options;
  const [uid, gid] = config.User.split(':').map(Number);
  return {
    ociVersion: '1.0.2',
    process: {
      user: { uid, gid },
      args: [...entrypoint, ...args],
      env: [...config.Env, ...environment],
      cwd: config.WorkingDir,
      noNewPrivileges: true,
      capabilities: {},
    },
    root: { path: image.root, readonly: true },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
      ...(writesToTmp ? [TMP] : []),
      bindOf('/etc/hosts'),
      bindOf('/etc/resolv.conf'),
      bindOf(directory.path),
    ],
    linux: { namespaces: ['pid', 'mount', 'ipc', 'uts'].map((type) => ({ type })) },
  };
}

function bindOf(path: string): object {
  return { destination: path, type: 'bind', source: path, options: ['rbind', 'ro'] };
}
