import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { CommandFailure } from '../../../cli/command-failure.ts';
import { readRedisTarget } from '../../../cli/process/redis-target.ts';
import { UsageError } from '../../../cli/usage-error.ts';

const LOGIN = { username: 'gatehouse', password: 'hunter2' };
const URL = 'redis://gatehouse:hunter2@redis.example:6380';

let directory = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gatehouse-redis-'));
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function fileOf(text: string): Promise<string> {
  const path = join(directory, 'url');
  await writeFile(path, text);
  return path;
}

describe('The URL of Redis', () => {
  test('is read as it is given', async () => {
    const target = await readRedisTarget({ kind: 'url', value: URL });
    expect(target).toMatchObject({ address: { host: 'redis.example', port: 6380 }, login: LOGIN });
  });

  test.each(['', '\n', '\r\n'])('is read from a file that ends with %j', async (end) => {
    const value = await fileOf(URL + end);
    expect(await readRedisTarget({ kind: 'file', value })).toMatchObject({ login: LOGIN });
  });

  test.each([
    'http://gatehouse:hunter2@redis.example',
    'redis://gatehouse:hunter2@redis.example:x',
  ])('is refused by its flag, without its password: %s', async (url) => {
    const value = await fileOf(url);
    for (const [source, place] of [
      [{ kind: 'url', value: url } as const, '--redis-url: '],
      [{ kind: 'file', value } as const, `--redis-url-file ${value}: `],
    ] as const) {
      const attempt = readRedisTarget(source);
      await expect(attempt).rejects.toThrow(UsageError);
      await expect(attempt).rejects.toThrow(place);
      await expect(attempt).rejects.not.toThrow('hunter2');
    }
  });

  test.each(['latin1', 'utf16le'] as const)('is refused from a file in %s', async (encoding) => {
    const value = await fileOf('');
    await writeFile(value, Buffer.from('redis://gatehouse:hünter2@redis.example', encoding));
    const attempt = readRedisTarget({ kind: 'file', value });
    await expect(attempt).rejects.toThrow(CommandFailure);
    await expect(attempt).rejects.toThrow(/save (it|the file) as UTF-8$/);
    await expect(attempt).rejects.not.toThrow('nter2');
  });

  test('cannot be read from a file that is not there', async () => {
    const attempt = readRedisTarget({ kind: 'file', value: join(directory, 'none') });
    await expect(attempt).rejects.toThrow(CommandFailure);
    await expect(attempt).rejects.toThrow(/none: ENOENT$/);
  });
});
