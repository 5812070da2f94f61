import { createPublicKey, sign, verify } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { calculateJwkThumbprint } from 'jose';

import { findProcessKeys, type ProcessKeys } from '../../../cli/process/process-keys.ts';

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
    expect(textsOf(sealingKeys)).toEqual([`${KEY}2`, KEY, `${KEY}3`]);
    expect(warnings).toEqual([]);
  });

  test('are not its hidden files and directories, as in a mounted Secret', async () => {
    await mkdir(join(directory, '..2026'));
    await mkdir(join(directory, 'more'));
    await write({ a: KEY, '.hidden': KEY });
    const { sealingKeys } = await find({ sealingKeysDirectory: directory });
    expect(textsOf(sealingKeys)).toEqual([KEY]);
  });

  test('have at least 32 bytes', async () => {
    await write({ good: KEY, short: 'hunter2' });
    const attempt = find({ sealingKeysDirectory: directory });
    await expect(attempt).rejects.toThrow(
      /short has 7 bytes; a sealing key needs at least 32 bytes$/,
    );
    await expect(attempt).rejects.not.toThrow('hunter2');
  });

  test('are there', async () => {
    await expect(find({ sealingKeysDirectory: directory })).rejects.toThrow('no sealing keys in');
    const nowhere = join(directory, 'nowhere');
    await expect(find({ sealingKeysDirectory: nowhere })).rejects.toThrow(
      `cannot read sealing keys in ${nowhere}: ENOENT`,
    );
  });
});

describe('keys of a state directory', () => {
  test('are made once and kept, for their owner only', async () => {
    const stateDirectory = join(directory, 'new', 'state');
    const first = await find({ stateDirectory });
    const second = await find({ stateDirectory });
    expect(second).toEqual(first);
    expect(warnings).toEqual([]);
    const names = await readdir(join(stateDirectory, 'sealing-keys'));
    expect(names).toHaveLength(1);
    const { mode } = await stat(join(stateDirectory, 'sealing-keys', ...names));
    expect(mode & 0o777).toBe(0o600);
  });

  test('take a sealing key that is added', async () => {
    await find({ stateDirectory: directory });
    await write({ 'sealing-keys/9999': KEY });
    const { sealingKeys } = await find({ stateDirectory: directory });
    expect(sealingKeys).toHaveLength(2);
    expect(sealingKeys[0].secret.toString()).toBe(KEY);
  });
});

describe('keys that are kept nowhere', () => {
  test('are other ones in each process, with a warning', async () => {
    const first = await find({});
    const second = await find({});
    expect(second.sealingKeys[0].secret).not.toEqual(first.sealingKeys[0].secret);
    expect(second.assertionKeys).not.toEqual(first.assertionKeys);
    expect(warnings).toEqual([
      'sealing keys are made for this process only',
      'sealing keys are made for this process only',
    ]);
  });
});

describe('assertion keys', () => {
  test('are the same wherever the sealing keys are, whatever the files are called', async () => {
    await write({ a: KEY, b: `${KEY}2` });
    const here = await find({ sealingKeysDirectory: directory });
    await rename(join(directory, 'a'), join(directory, '0'));
    const there = await find({ sealingKeysDirectory: directory });
    expect(there.assertionKeys).toEqual(here.assertionKeys);
  });

  test('follow the order of the sealing keys, one from each', async () => {
    await write({ a: KEY, b: `${KEY}2` });
    const before = await find({ sealingKeysDirectory: directory });
    await rename(join(directory, 'a'), join(directory, 'c'));
    const after = await find({ sealingKeysDirectory: directory });
    expect(before.assertionKeys.keys).toHaveLength(2);
    expect(after.assertionKeys.keys).toEqual([...before.assertionKeys.keys].reverse());
  });

  test('are P-256 keys that sign with ES256, under the thumbprint of the key', async () => {
    const { assertionKeys } = await find({});
    const [key] = assertionKeys.keys;
    if (key === undefined) throw new Error('there is a key');
    const { privateKey, keyId, algorithm } = key;
    expect(algorithm).toBe('ES256');
    const publicKey = createPublicKey(privateKey);
    expect(publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
    const jwk = publicKey.export({ format: 'jwk' });
    expect(keyId).toBe(await calculateJwkThumbprint(jwk));
    const signature = sign('sha256', Buffer.from('text'), privateKey);
    expect(verify('sha256', Buffer.from('text'), publicKey, signature)).toBe(true);
  });

  test('follow by the rules alone: proxies of two versions agree', async () => {
    await write({ a: KEY });
    const { assertionKeys } = await find({ sealingKeysDirectory: directory });
    expect(assertionKeys.keys.map(({ keyId }) => keyId)).toEqual([
      // HKDF, reduction and point multiplication, done by another program.
      'ievzWRs4c8WytPhdOi082j8tu_Kno85lEQd2tXfwo4M',
    ]);
  });
});

function textsOf(keys: ProcessKeys['sealingKeys']): readonly string[] {
  return keys.map(({ secret }) => secret.toString());
}

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
