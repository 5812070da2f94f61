import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { decodeText } from '../../shared/runtime/decode-text.ts';
import { errorCode } from '../../shared/runtime/error-code.ts';
import { parseDocuments, type ParsedFile, type SyntaxProblem } from './parse-documents.ts';
import { secretFileNames, type SecretFile, type SecretFiles } from './plain/secret-files.ts';

const EXTENSIONS = ['.yaml', '.yml', '.json'];

/** The files of a configuration at one moment, and the secret files that they name. */
export interface Contents {
  /** By name. */
  readonly files: readonly ConfigurationFile[];
  readonly secretFiles: SecretFiles;
}

/** One file of a configuration. */
export interface ConfigurationFile {
  /** The path that was given; in a directory, with the name of the entry. */
  readonly name: string;
  /** Undefined if the file exists and cannot be read. */
  readonly bytes: Buffer | undefined;
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
    one.files.every(({ name, bytes }, index) => {
      const file = other.files[index];
      return file?.name === name && isSameBytes(file.bytes, bytes);
    }) &&
    isDeepStrictEqual(one.secretFiles, other.secretFiles)
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
    const bytes = await readFile(name);
    if (previous !== undefined && isSameBytes(previous.bytes, bytes)) return previous;
    return { name, bytes, parsed: parseFile(name, bytes) };
  } catch (error) {
    const code = errorCode(error) ?? 'unknown error';
    if (code === 'ENOENT' || code === 'EISDIR') return undefined;
    const problem = { line: 1, message: `cannot be read (${code})` };
    return { name, bytes: undefined, parsed: unparsed(problem) };
  }
}

function parseFile(name: string, bytes: Buffer): ParsedFile {
  const decoded = decodeText(bytes);
  return decoded.kind === 'text' ? parseDocuments(name, decoded.text) : unparsed(decoded);
}

function unparsed({ line, message }: SyntaxProblem): ParsedFile {
  return { documents: [], readable: [], syntaxProblems: [{ line, message }] };
}

function isSameBytes(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one.equals(other);
}

async function readSecretFiles(files: readonly ConfigurationFile[]): Promise<SecretFiles> {
  const documents = files.flatMap(({ parsed }) => parsed.readable);
  const paths = new Set(documents.flatMap((document) => secretFileNames(document)));
  const entries = await Promise.all(
    [...paths].sort().map(async (path) => [path, await readSecretFile(path)] as const),
  );
  return new Map(entries);
}

/** The reader of the value reports a problem, at the key that names the file. */
async function readSecretFile(path: string): Promise<SecretFile> {
  try {
    const decoded = decodeText(await readFile(path));
    if (decoded.kind === 'text') return decoded;
    return { kind: 'unreadable', why: `is not UTF-8 (line ${String(decoded.line)})` };
  } catch {
    return { kind: 'unreadable', why: 'cannot be read' };
  }
}
