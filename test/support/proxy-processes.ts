import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll } from '@jest/globals';

import { readSealingKeys } from '../../cli/process/sealing-keys.ts';
import { Sealer } from '../../proxy/crypto/sealer.ts';
import { FileSnapshotKeeper } from '../../proxy/store/snapshot/file-snapshot-keeper.ts';
import type { PlacedSnapshot } from '../../proxy/store/snapshot/snapshot-keeper.ts';
import { snapshotOf } from '../../shared/snapshot/hash-resource.ts';
import { startGatehouse, type GatehouseProcess, type LogRecord } from './cli.ts';
import { disposeAfterEach } from './dispose-after-each.ts';
import { writeGatewayFiles, type GatewayFiles } from './kubernetes/gateway-files.ts';
import { pushedRoute, pushedSettings } from './push/push-resources.ts';

const NOBODY = '127.0.0.1:1';

/** The snapshot that a proxy may have kept from an earlier start. */
export const KEPT: PlacedSnapshot = {
  position: { epoch: 3, sequence: 1 },
  snapshot: snapshotOf([pushedSettings(), pushedRoute('a')]),
};

type Flags = Readonly<Record<string, string>>;

/** Processes of `gatehouse proxy`, which are killed after each test. */
export interface ProxyProcesses {
  /** The files of the proxies, while tests run. */
  readonly files: () => GatewayFiles;
  /** Arguments of a proxy whose Redis and controllers are unreachable, and which drains for an hour. */
  readonly argumentsWith: (changes?: Flags) => readonly string[];
  /** Starts a proxy with these arguments. */
  readonly startProxy: (changes?: Flags, variables?: Flags) => GatehouseProcess;
  /** The sealer of the proxies. */
  readonly sealer: () => Promise<Sealer>;
  /** Writes a cache directory with the snapshot `KEPT` in it. */
  readonly cacheDirectory: () => Promise<string>;
}

/** Makes what the tests of a file need to start proxies as processes. */
export function proxyProcesses(): ProxyProcesses {
  const keep = disposeAfterEach();
  let files: GatewayFiles;
  beforeAll(async () => {
    files = await writeGatewayFiles();
    await writeFile(join(files.directory, 'token'), 'the-token');
  });
  afterAll(async () => {
    await files[Symbol.asyncDispose]();
  });
  const argumentsWith = (changes: Flags = {}): readonly string[] => argumentsOf(files, changes);
  const sealer = async (): Promise<Sealer> =>
    new Sealer(await readSealingKeys(files.sealingKeysDirectory));
  return {
    files: () => files,
    argumentsWith,
    sealer,
    startProxy: (changes, variables = {}) =>
      keep(startGatehouse(argumentsWith(changes), variables)),
    async cacheDirectory() {
      const directory = join(files.directory, 'cache');
      const keeper = new FileSnapshotKeeper({ directory, id: 'gatehouse', sealer: await sealer() });
      await keeper.save(KEPT);
      return directory;
    },
  };
}

/** Whether a record has this message. */
export function hasMessage(message: string): (record: LogRecord) => boolean {
  return (record) => record['message'] === message;
}

/** Whether a record gives the cause of a failed connection to the controller. */
export function isAboutController(record: LogRecord): boolean {
  return record['controller'] !== undefined && record['error'] !== undefined;
}

function argumentsOf(files: GatewayFiles, changes: Flags): readonly string[] {
  const all = {
    controller: `https://${NOBODY}`,
    'controller-ca': files.caFile,
    'token-file': join(files.directory, 'token'),
    'proxy-id': 'proxy-0',
    listen: '127.0.0.1:0',
    'admin-listen': '127.0.0.1:0',
    'redis-url': `redis://${NOBODY}`,
    'sealing-keys-dir': files.sealingKeysDirectory,
    'drain-delay': '1h',
    ...changes,
  };
  return ['proxy', ...Object.entries(all).flatMap(([name, value]) => [`--${name}`, value])];
}
