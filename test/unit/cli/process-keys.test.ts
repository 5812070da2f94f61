import { createPrivateKey } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { findProcessKeys, type ProcessKeys } from '../../../cli/commands/run/process-keys.ts';

const KEY = 'k'.repeat(32);

let directory = '';
let warnings: string[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gatehouse-keys-'));
  warnings = [];
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

describe('sealing keys of a directory', () => {
  test('are its files, and the one whose name sorts last comes first', async () => {
    await write({ '2026-01': KEY, '2026-11': `${KEY}2`, '2025-12': `${KEY}3` });
    const { sealingKeys } = await find({ sealingKeysDirectory: directory });
    expect(sealingKeys.map(({ id }) => id)).toEqual(['2026-11', '2026-01', '2025-12']);
    expect(sealingKeys[0].secret.toString()).toBe(`${KEY}2`);
    expect(warnings).toEqual([]);
  });

  test('are not its hidden files and directories, as in a mounted Secret', async () => {
    await mkdir(join(directory, '..2026'));
    await mkdir(join(directory, 'more'));
    await write({ a: KEY, '.hidden': KEY });
    const { sealingKeys } = await find({ sealingKeysDirectory: directory });
    expect(sealingKeys.map(({ id }) => id)).toEqual(['a']);
  });

  test('have at least 32 bytes', async () => {
    await write({ good: KEY, short: 'hunter2' });
    const attempt = find({ sealingKeysDirectory: directory });
    await expect(attempt).rejects.toThrow(
      /short has 7 bytes; a sealing key has at least 32 bytes$/,
    );
    await expect(attempt).rejects.not.toThrow('hunter2');
  });

  test('are there', async () => {
    await expect(find({ sealingKeysDirectory: directory })).rejects.toThrow('no sealing keys in');
  });
});

describe('keys of a state directory', () => {
  test('are made once and kept, for their owner only', async () => {
    const stateDirectory = join(directory, 'new', 'state');
    const first = await find({ stateDirectory });
    const second = await find({ stateDirectory });
    expect(second).toEqual(first);
    expect(warnings).toEqual([]);
    const [sealingKey = ''] = await readdir(join(stateDirectory, 'sealing-keys'));
    for (const name of [join('sealing-keys', sealingKey), 'assertion-key.pem']) {
      const { mode } = await stat(join(stateDirectory, name));
      expect(mode & 0o777).toBe(0o600);
    }
  });

  test('take a sealing key that is added', async () => {
    await find({ stateDirectory: directory });
    await write({ 'sealing-keys/9999': KEY });
    const { sealingKeys } = await find({ stateDirectory: directory });
    expect(sealingKeys.map(({ id }) => id)).toEqual(['9999', expect.any(String)]);
  });

  test.each([
    { fault: 'is no key', text: 'hunter2' },
    {
      fault: 'is a key of another kind',
      text: '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE KEY-----\n',
    },
  ])('are refused when the assertion key $fault', async ({ text }) => {
    await write({ 'assertion-key.pem': text });
    await expect(find({ stateDirectory: directory })).rejects.toThrow('assertion-key.pem is not');
  });
});

describe('keys that are kept nowhere', () => {
  test('are other ones in each process, with a warning', async () => {
    const first = await find({});
    const second = await find({});
    expect(second.sealingKeys[0].secret).not.toEqual(first.sealingKeys[0].secret);
    expect(second.assertionKey).not.toEqual(first.assertionKey);
    expect(warnings).toEqual([
      'sealing keys are made for this process only',
      'sealing keys are made for this process only',
    ]);
  });

  test('sign assertions with ES256, under the thumbprint of the key', async () => {
    const { assertionKey } = await find({});
    expect(assertionKey.keys).toHaveLength(1);
    const [key] = assertionKey.keys;
    expect(key?.algorithm).toBe('ES256');
    expect(key?.keyId).toMatch(/^[-\w]{43}$/);
    const { asymmetricKeyDetails } = createPrivateKey(key?.privateKey ?? '');
    expect(asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
  });
});

async function find(sources: Partial<Parameters<typeof findProcessKeys>[0]>): Promise<ProcessKeys> {
  const all = { sealingKeysDirectory: undefined, stateDirectory: undefined, ...sources };
  return findProcessKeys(all, {
    info: () => undefined,
    warn: (message) => warnings.push(message),
    error: () => undefined,
  });
}

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
}
