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
    expect(files).toMatchObject([{ name: join(directory, 'a.yaml'), bytes: Buffer.from('a: 1') }]);
  });

  test('ignores a link without a target', async () => {
    await write({ 'a.yaml': '' });
    await symlink('nowhere.yaml', join(directory, 'b.yaml'));
    expect(await namesIn(directory)).toEqual(['a.yaml']);
  });

  test('reads a single file with any name', async () => {
    await write({ 'gatehouse.conf': 'a: 1', 'other.yaml': 'b: 1' });
    const path = join(directory, 'gatehouse.conf');
    expect((await readContents(path)).files).toMatchObject([
      { name: path, bytes: Buffer.from('a: 1') },
    ]);
  });

  test('reads the files that a plain form names for its secrets', async () => {
    const providers = 'identity_providers: {corp: {client_secret_file: corp.txt}}';
    const routes =
      'routes: [{mcp: {server: {upstream_oauth2: {client_secret_file: mcp.txt}}}}, {mcp: {server: {}}}, 1]';
    await write({
      'a.yaml': `signing_key_file: ${join(directory, 'missing.pem')}\n${providers}\n${routes}`,
      'corp.txt': 'hunter2',
      'mcp.txt': 'hunter3',
    });
    const { secretFiles } = await readContents(join(directory, 'a.yaml'));
    expect([...secretFiles]).toEqual([
      [join(directory, 'corp.txt'), { kind: 'text', text: 'hunter2' }],
      [join(directory, 'mcp.txt'), { kind: 'text', text: 'hunter3' }],
      [join(directory, 'missing.pem'), { kind: 'unreadable', why: 'cannot be read' }],
    ]);
  });

  test('does not parse an unchanged file again', async () => {
    await write({ 'a.yaml': 'a: 1', 'b.yaml': 'b: 1' });
    const first = await readContents(directory);
    await write({ 'b.yaml': 'b: 2' });
    const second = await readContents(directory, first);
    expect(second.files[0]).toBe(first.files[0]);
    expect(second.files[1]?.bytes).toEqual(Buffer.from('b: 2'));
  });

  test.each([
    { encoding: 'Latin-1', bytes: Buffer.from('a: 1\nis: Geschäft\n', 'latin1') },
    { encoding: 'a cut UTF-8 character', bytes: Buffer.from('a: 1\nis: Gesch\xc3', 'latin1') },
    { encoding: 'an overlong character', bytes: Buffer.from('a: 1\nis: Gesch\xc0\xaf', 'latin1') },
    { encoding: 'half a pair', bytes: Buffer.from('a: 1\nis: Gesch\xed\xa0\x80', 'latin1') },
  ])('reports $encoding with the line and the byte', async ({ bytes }) => {
    await writeFile(join(directory, 'a.yaml'), bytes);
    const { files } = await readContents(directory);
    const message = 'byte 10 of the line is not UTF-8; save the file as UTF-8';
    expect(files[0]?.parsed).toEqual({
      documents: [],
      readable: [],
      syntaxProblems: [{ line: 2, message }],
    });
  });

  test.each([
    { what: 'UTF-16 with a byte order mark', bytes: Buffer.from('\uFEFFa: 1', 'utf16le') },
    { what: 'UTF-16, big end first', bytes: Buffer.from('\uFEFFa: 1', 'utf16le').swap16() },
    { what: 'UTF-16 without a byte order mark', bytes: Buffer.from('a: 1', 'utf16le') },
  ])('names the encoding of $what', async ({ bytes }) => {
    await writeFile(join(directory, 'a.yaml'), bytes);
    const { files } = await readContents(directory);
    const problem = { line: 1, message: 'is UTF-16; save it as UTF-8' };
    expect(files[0]?.parsed.syntaxProblems).toEqual([problem]);
  });

  test('reads a file with a byte order mark as without', async () => {
    await write({ 'a.yaml': '\uFEFFa: 1' });
    const { files } = await readContents(directory);
    expect(files[0]?.parsed.documents).toMatchObject([{ value: { a: 1 } }]);
  });

  test('does not read a secret file that is not UTF-8, and does not quote it', async () => {
    await write({ 'a.yaml': 'signing_key_file: key.pem' });
    await writeFile(join(directory, 'key.pem'), Buffer.from('x\nhunter\xe4', 'latin1'));
    const { secretFiles } = await readContents(directory);
    expect([...secretFiles.values()]).toEqual([
      { kind: 'unreadable', why: 'is not UTF-8 (line 2)' },
    ]);
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
