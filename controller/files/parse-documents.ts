import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  type Document,
  type YAMLSeq,
} from 'yaml';

import {
  findUnprintable,
  type ForbiddenCharacter,
} from '../../shared/runtime/forbidden-character.ts';

const UNKNOWN_TAG = 'unknown tag; quote a value that begins with "!"';
const TOO_DEEP = 'lists and maps are nested too deeply to be read';
const BAD_ALIAS = 'an alias has no anchor or expands too far; quote a value that begins with "*"';

/** One document of a configuration file. */
export interface SourceDocument {
  /** The name of the file, as given. */
  readonly file: string;
  /** Counted from 1. */
  readonly number: number;
  readonly value: unknown;
  /** The line of a path such as `spec.routes[0]`, or of the nearest part that the document has. */
  readonly lineOf: (path: string) => number;
}

/** One reason why a file is not YAML. */
export interface SyntaxProblem {
  /** Absent if the file as a whole is unreadable. */
  readonly document?: number;
  readonly line: number;
  readonly message: string;
}

/** The documents of a file, or the reasons why it is not YAML or JSON. */
export interface ParsedFile {
  readonly documents: readonly SourceDocument[];
  /** All readable documents, also of a file with unreadable ones, only to find further problems. */
  readonly readable: readonly SourceDocument[];
  readonly syntaxProblems: readonly SyntaxProblem[];
}

/** Pretty errors quote the source, which may contain a secret. */
const PARSE_OPTIONS = { prettyErrors: false, merge: true, logLevel: 'silent' } as const;

const EMPTY_FILE: SyntaxProblem = {
  document: 1,
  line: 1,
  message: 'the file is empty; delete the file to remove its resources',
};

/**
 * Reads the YAML documents of a file; JSON is YAML too. Empty documents are counted, but left out.
 *
 * A file with a syntax problem has no documents: half a file is not a configuration.
 */
export function parseDocuments(file: string, text: string): ParsedFile {
  // An empty file is more often a truncated one than a wish to remove everything in it.
  if (text.trim() === '') {
    return { documents: [], readable: [], syntaxProblems: [EMPTY_FILE] };
  }
  const unprintable = findUnprintable(text);
  if (unprintable !== undefined) {
    return { documents: [], readable: [], syntaxProblems: [unprintableProblem(text, unprintable)] };
  }
  const lineCounter = new LineCounter();
  const lineAt = (offset: number): number => lineCounter.linePos(offset).line;
  const documents = [...parseAllDocuments(text, { ...PARSE_OPTIONS, lineCounter })];
  const read = documents.map((parsed, index) =>
    readDocument(parsed, { file, number: index + 1, lineAt }),
  );
  const readable = read.flatMap(({ document }) => document ?? []);
  const syntaxProblems = read.flatMap(({ problems }) => problems);
  const isBroken = syntaxProblems.length > 0;
  return { documents: isBroken ? [] : readable, readable, syntaxProblems };
}

function unprintableProblem(text: string, { offset, name }: ForbiddenCharacter): SyntaxProblem {
  const lines = text.slice(0, offset).split('\n');
  const column = (lines.at(-1)?.length ?? 0) + 1;
  const message = `column ${String(column)} has the character ${name}, which YAML forbids`;
  return { line: lines.length, message };
}

/** The place of a document. */
interface DocumentPlace {
  readonly file: string;
  readonly number: number;
  readonly lineAt: (offset: number) => number;
}

function readDocument(
  parsed: Document.Parsed,
  { file, number, lineAt }: DocumentPlace,
): { readonly document?: SourceDocument; readonly problems: readonly SyntaxProblem[] } {
  const problems = problemsOf(parsed).map(({ offset, message }) => ({
    document: number,
    line: lineAt(offset),
    message,
  }));
  if (problems.length > 0) return { problems };
  const value: unknown = parsed.toJS();
  if (value === null) return { problems };
  const lineOf = (path: string): number => lineAt(offsetOf(parsed, path));
  return { document: { file, number, value, lineOf }, problems };
}

interface OffsetProblem {
  readonly offset: number;
  readonly message: string;
}

/** Messages of the parser that name a tag or alias are replaced: it may be an unquoted secret. */
function problemsOf(document: Document.Parsed): readonly OffsetProblem[] {
  const errors = document.errors.map(({ pos, code, message }) => ({
    offset: pos[0],
    message: code === 'RESOURCE_EXHAUSTION' ? TOO_DEEP : message,
  }));
  const tags = document.warnings.map(({ pos }) => ({ offset: pos[0], message: UNKNOWN_TAG }));
  const problems = [...errors, ...tags];
  if (problems.length > 0) return problems;
  try {
    document.toJS();
    return [];
  } catch {
    return [{ offset: document.contents?.range[0] ?? document.range[0], message: BAD_ALIAS }];
  }
}

/** Resolves `a.b[0].c` as far as possible. Keys may contain dots: the longest key that fits wins. */
function offsetOf(document: Document.Parsed, path: string): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range[0] ?? document.range[0];
  let rest = path;
  while (rest !== '') {
    const step = stepInto(isAlias(node) ? node.resolve(document) : node, rest);
    if (step === undefined) break;
    ({ node, rest } = step);
    offset = step.offset;
  }
  return offset;
}

interface Step {
  readonly node: unknown;
  readonly offset: number;
  readonly rest: string;
}

function stepInto(node: unknown, path: string): Step | undefined {
  if (isSeq(node)) return stepIntoSequence(node, path);
  if (!isMap(node)) return undefined;
  const name = path.startsWith('.') ? path.slice(1) : path;
  let longest: Step | undefined;
  for (const { key, value } of node.items) {
    if (!isScalar(key) || !startsWithKey(name, String(key.value))) continue;
    const rest = name.slice(String(key.value).length);
    if (longest !== undefined && longest.rest.length <= rest.length) continue;
    longest = { node: value, offset: key.range?.[0] ?? 0, rest };
  }
  return longest;
}

function stepIntoSequence({ items }: YAMLSeq, path: string): Step | undefined {
  const index = /^\[(\d+)\]/.exec(path);
  const item = items[Number(index?.[1])];
  if (index === null || !isNode(item)) return undefined;
  return { node: item, offset: item.range?.[0] ?? 0, rest: path.slice(index[0].length) };
}

function startsWithKey(path: string, key: string): boolean {
  if (!path.startsWith(key)) return false;
  const after = path[key.length];
  return after === undefined || after === '.' || after === '[';
}
