import { EventEmitter, once } from 'node:events';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { ContentsWatcher } from '../../../../controller/files/contents-watcher.ts';
import { readContents, type Contents } from '../../../../controller/files/read-contents.ts';
import type { Logger } from '../../../../shared/telemetry/logger.ts';

const NEVER_MS = 3_600_000;
const SOON_MS = 50;

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gatehouse-watcher-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

describe('ContentsWatcher', () => {
  test.each([
    {
      change: 'a file that is written in place',
      make: () => write('a.yaml', 'a: 2'),
      expected: { 'a.yaml': 'a: 2' },
    },
    {
      change: 'a file that is replaced by renaming',
      make: async () => {
        await write('.a.yaml.swp', 'a: 2');
        await rename(join(directory, '.a.yaml.swp'), join(directory, 'a.yaml'));
      },
      expected: { 'a.yaml': 'a: 2' },
    },
    {
      change: 'a file that is there newly',
      make: () => write('b.yaml', 'b: 1'),
      expected: { 'a.yaml': 'a: 1', 'b.yaml': 'b: 1' },
    },
    {
      change: 'a file that is gone',
      make: () => rm(join(directory, 'a.yaml')),
      expected: {},
    },
  ])('reports $change', async ({ make, expected }) => {
    await write('a.yaml', 'a: 1');
    await using watching = await watch(directory);
    await make();
    await watching.until(expected);
    expect(watching.told).toHaveLength(1);
  });

  test('reports a ConfigMap that is swapped', async () => {
    await mkdir(join(directory, '..1'));
    await write('..1/a.yaml', 'a: 1');
    await symlink('..1', join(directory, '..data'));
    await symlink('..data/a.yaml', join(directory, 'a.yaml'));
    await using watching = await watch(directory);
    await mkdir(join(directory, '..2'));
    await write('..2/a.yaml', 'a: 2');
    await symlink('..2', join(directory, '..data_tmp'));
    await rename(join(directory, '..data_tmp'), join(directory, '..data'));
    await watching.until({ 'a.yaml': 'a: 2' });
    expect(watching.told).toHaveLength(1);
  });

  test('reports a change of the target of a link', async () => {
    await mkdir(join(directory, 'far'));
    await mkdir(join(directory, 'near'));
    await write('far/a.yaml', 'a: 1');
    await symlink('../far/a.yaml', join(directory, 'near/a.yaml'));
    await using watching = await watch(join(directory, 'near'), { pollMs: SOON_MS });
    await write('far/a.yaml', 'a: 2');
    await watching.until({ 'a.yaml': 'a: 2' });
    expect(watching.told).toHaveLength(1);
  });

  test('reports a secret file in another directory', async () => {
    await mkdir(join(directory, 'secrets'));
    await write('secrets/key.pem', 'one');
    await write('a.yaml', 'signing_key_file: secrets/key.pem');
    await using watching = await watch(join(directory, 'a.yaml'));
    await write('secrets/key.pem', 'two');
    const { secretFiles } = await watching.next();
    expect([...secretFiles.values()]).toEqual([{ kind: 'text', text: 'two' }]);
  });

  test('reports nothing if only times change', async () => {
    await write('a.yaml', 'a: 1');
    await using watching = await watch(directory);
    await write('a.yaml', 'a: 1');
    await write('b.txt', 'x');
    await write('c.yaml', 'c: 1');
    await watching.until({ 'a.yaml': 'a: 1', 'c.yaml': 'c: 1' });
    expect(watching.told).toHaveLength(1);
  });

  test('reports nothing while the path is missing, and logs that once', async () => {
    await mkdir(join(directory, 'conf'));
    await write('conf/a.yaml', 'a: 1');
    await using watching = await watch(join(directory, 'conf'), { pollMs: SOON_MS });
    await rename(join(directory, 'conf'), join(directory, 'away'));
    await watching.untilLogged('configuration not found, the last good one keeps serving');
    await rename(join(directory, 'away'), join(directory, 'conf'));
    await write('conf/a.yaml', 'a: 2');
    await watching.until({ 'a.yaml': 'a: 2' });
    expect(watching.told).toHaveLength(1);
    expect(watching.logged).toHaveLength(1);
  });

  test('continues after a change that could not be applied', async () => {
    await write('a.yaml', 'a: 1');
    await using watching = await watch(directory, {
      fail: () => {
        throw new Error('broken');
      },
    });
    await write('a.yaml', 'a: 2');
    await watching.untilLogged('cannot apply configuration');
    await write('a.yaml', 'a: 3');
    await watching.until({ 'a.yaml': 'a: 3' });
    expect(watching.told).toHaveLength(2);
  });
});

class Watching {
  readonly told: Contents[] = [];
  readonly logged: string[] = [];
  readonly #events = new EventEmitter();
  readonly #watcher: ContentsWatcher;

  constructor(path: string, contents: Contents, { fail, pollMs }: WatchOptions) {
    const log = (message: string): void => {
      this.logged.push(message);
      this.#events.emit('change');
    };
    const logger: Logger = { info: log, warn: log, error: log };
    this.#watcher = new ContentsWatcher({
      path,
      contents,
      logger,
      onChange: (changed) => {
        this.told.push(changed);
        this.#events.emit('change');
        fail?.();
      },
      // Without polling, only events can report it.
      pollMs: pollMs ?? NEVER_MS,
    });
  }

  async next(): Promise<Contents> {
    await this.#waitFor(() => this.told.length > 0);
    const [first] = this.told;
    if (first === undefined) throw new Error('a change was told');
    return first;
  }

  async until(expected: Readonly<Record<string, string>>): Promise<void> {
    const wanted = JSON.stringify(expected);
    await this.#waitFor(() => {
      const last = this.told.at(-1);
      return last !== undefined && JSON.stringify(textsOf(last)) === wanted;
    });
  }

  async untilLogged(message: string): Promise<void> {
    await this.#waitFor(() => this.logged.includes(message));
  }

  async #waitFor(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await once(this.#events, 'change');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watcher.close();
  }
}

interface WatchOptions {
  readonly fail?: () => void;
  readonly pollMs?: number;
}

async function watch(path: string, options: WatchOptions = {}): Promise<Watching> {
  return new Watching(path, await readContents(path), options);
}

function textsOf({ files }: Contents): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(files.map(({ name, bytes }) => [basename(name), bytes?.toString()]));
}

async function write(name: string, text: string): Promise<void> {
  await writeFile(join(directory, name), text);
}
