import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

import { errorCode } from '../../shared/runtime/error-code.ts';
import { parseDocuments, type ParsedFile } from './parse-documents.ts';
import { secretFileNames } from './plain/secret-files.ts';

const EXTENSIONS = ['.yaml', '.yml', '.json'];

/** The files of a configuration at one moment, and the secret files that they name. */
export interface Contents {
  /** By name. */
  readonly files: readonly ConfigurationFile[];
  /** By absolute path; undefined if the file cannot be read. */
  readonly secretFiles: ReadonlyMap<string, string | undefined>;
}

/** One file of a configuration. */
export interface ConfigurationFile {
  /** The path that was given; in a directory, with the name of the entry. */
  readonly name: string;
  /** Undefined if the file exists and cannot be read. */
  readonly text: string | undefined;
  readonly parsed: ParsedFile;
}

/**
 * Reads a configuration: one file, or the `*.yaml`, `*.yml` and `*.json` files directly in a
 * directory, in the order of their names.
 *
 * Hidden entries are not read, so that the `..data` directories of a mounted ConfigMap or Secret are
 * read only once, through the links beside them. Unchanged files are not parsed again. Throws if the
 * path itself does not exist.
 */
export async function readContents(path: string, previous?: Contents): Promise<Contents> {
  const known = new Map(previous?.files.map((file) => [file.name, file]));
  const names = (await stat(path)).isDirectory() ? await filesIn(path) : [path];
  const read = await Promise.all(names.map(async (name) => readOne(name, known.get(name))));
  const files = read.filter((file) => file !== undefined);
  return { files, secretFiles: await readSecretFiles(files) };
}

/** Whether two readings have the same contents. */
export function isSameContents(one: Contents, other: Contents): boolean {
  return (
    one.files.length === other.files.length &&
    one.files.every(({ name, text }, index) => {
      const file = other.files[index];
      return file?.name === name && file.text === text;
    }) &&
    one.secretFiles.size === other.secretFiles.size &&
    [...one.secretFiles].every(
      ([path, text]) => other.secretFiles.has(path) && other.secretFiles.get(path) === text,
    )
  );
}

/** The directories to watch for changes of these contents. */
export function directoriesOf(path: string, contents: Contents): readonly string[] {
  const files = [...contents.files.map(({ name }) => name), ...contents.secretFiles.keys()];
  const isOneFile = contents.files.some(({ name }) => name === path);
  const directories = [isOneFile ? dirname(path) : path, ...files.map((file) => dirname(file))];
  return [...new Set(directories.map((directory) => resolve(directory)))];
}

async function filesIn(directory: string): Promise<readonly string[]> {
  const names = (await readdir(directory)).filter(
    (name) => !name.startsWith('.') && EXTENSIONS.some((extension) => name.endsWith(extension)),
  );
  return names.sort().map((name) => join(directory, name));
}

/** Undefined if it is not a file: a directory, or removed since it was listed. */
async function readOne(
  name: string,
  previous: ConfigurationFile | undefined,
): Promise<ConfigurationFile | undefined> {
  try {
    const text = await readFile(name, 'utf8');
    if (previous?.text === text) return previous;
    return { name, text, parsed: parseDocuments(name, text) };
  } catch (error) {
    const code = errorCode(error) ?? 'unknown error';
    if (code === 'ENOENT' || code === 'EISDIR') return undefined;
    const problem = { document: 1, line: 1, message: `cannot be read (${code})` };
    return {
      name,
      text: undefined,
      parsed: { documents: [], readable: [], syntaxProblems: [problem] },
    };
  }
}

async function readSecretFiles(
  files: readonly ConfigurationFile[],
): Promise<ReadonlyMap<string, string | undefined>> {
  const documents = files.flatMap(({ parsed }) => parsed.readable);
  const paths = new Set(documents.flatMap((document) => secretFileNames(document)));
  const entries = await Promise.all(
    [...paths].sort().map(async (path) => [path, await readText(path)] as const),
  );
  return new Map(entries);
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    // The reader of the value reports this, at the key that names the file.
    return undefined;
  }
}
