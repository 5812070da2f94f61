import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { readContents } from '../../../../controller/files/read-contents.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gatehouse-contents-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

describe('readContents', () => {
  test('reads the YAML and JSON files of a directory in the order of their names', async () => {
    await write({
      'b.yml': 'b: 1',
      'a.yaml': 'a: 1',
      'c.json': '{}',
      'notes.md': '',
      'd.yaml~': '',
    });
    const { files } = await readContents(directory);
    expect(files.map(({ name }) => name)).toEqual(
      ['a.yaml', 'b.yml', 'c.json'].map((name) => join(directory, name)),
    );
  });

  test('does not read subdirectories and hidden files', async () => {
    await mkdir(join(directory, 'more.yaml'));
    await write({ 'a.yaml': '', '.hidden.yaml': 'x: 1', 'more.yaml/b.yaml': 'x: 1' });
    expect(await namesIn(directory)).toEqual(['a.yaml']);
  });

  test('reads a mounted ConfigMap once, through its links', async () => {
    await mkdir(join(directory, '..2026_11_21'));
    await write({ '..2026_11_21/a.yaml': 'a: 1' });
    await symlink('..2026_11_21', join(directory, '..data'));
    await symlink('..data/a.yaml', join(directory, 'a.yaml'));
    const { files } = await readContents(directory);
    expect(files).toMatchObject([{ name: join(directory, 'a.yaml'), text: 'a: 1' }]);
  });

  test('ignores a link without a target', async () => {
    await write({ 'a.yaml': '' });
    await symlink('nowhere.yaml', join(directory, 'b.yaml'));
    expect(await namesIn(directory)).toEqual(['a.yaml']);
  });

  test('reads a single file with any name', async () => {
    await write({ 'gatehouse.conf': 'a: 1', 'other.yaml': 'b: 1' });
    const path = join(directory, 'gatehouse.conf');
    expect((await readContents(path)).files).toMatchObject([{ name: path, text: 'a: 1' }]);
  });

  test('reads the files that a plain form names for its secrets', async () => {
    const providers = 'identity_providers: {corp: {client_secret_file: corp.txt}}';
    await write({
      'a.yaml': `signing_key_file: ${join(directory, 'missing.pem')}\n${providers}`,
      'corp.txt': 'hunter2',
    });
    const { secretFiles } = await readContents(join(directory, 'a.yaml'));
    expect([...secretFiles]).toEqual([
      [join(directory, 'corp.txt'), 'hunter2'],
      [join(directory, 'missing.pem'), undefined],
    ]);
  });

  test('does not parse an unchanged file again', async () => {
    await write({ 'a.yaml': 'a: 1', 'b.yaml': 'b: 1' });
    const first = await readContents(directory);
    await write({ 'b.yaml': 'b: 2' });
    const second = await readContents(directory, first);
    expect(second.files[0]).toBe(first.files[0]);
    expect(second.files[1]?.text).toBe('b: 2');
  });

  test('throws if the path does not exist', async () => {
    await expect(readContents(join(directory, 'nowhere'))).rejects.toThrow('ENOENT');
  });
});

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
}

async function namesIn(path: string): Promise<readonly string[]> {
  return (await readContents(path)).files.map(({ name }) => basename(name));
}
