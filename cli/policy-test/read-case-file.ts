import { readFile } from 'node:fs/promises';

import { parseDocuments, type SourceDocument } from '../../controller/files/parse-documents.ts';
import { schemaProblems } from '../../controller/validate/check-schema.ts';
import { decodeText } from '../../shared/runtime/decode-text.ts';
import { CommandFailure } from '../command-failure.ts';
import { unreadable } from '../process/load.ts';
import type { CaseFile } from './case-file.ts';
import { caseProblems, type CaseProblem } from './case-problems.ts';
import { checkCaseFile } from './generated/check-case-file.js';

/** A file of cases that has no problems, and its lines. */
export interface ReadCases {
  readonly name: string;
  readonly file: CaseFile;
  /** The line of a path such as `cases[0].name`. */
  readonly lineOf: (path: string) => number;
}

/** Reads a file of cases. Throws `CommandFailure` with all of its problems, each with its line. */
export async function readCaseFile(name: string): Promise<ReadCases> {
  const { value, lineOf } = parse(name, await readBytes(name));
  const problems = schemaProblems(checkCaseFile, value);
  if (problems.length > 0) throw failure(name, problems, lineOf);
  // The schema has just been checked.
  const file = value as CaseFile;
  const further = caseProblems(file);
  if (further.length > 0) throw failure(name, further, lineOf);
  return { name, file, lineOf };
}

async function readBytes(name: string): Promise<Buffer> {
  try {
    return await readFile(name);
  } catch (error) {
    throw unreadable(name, error);
  }
}

function parse(name: string, bytes: Buffer): SourceDocument {
  const decoded = decodeText(bytes);
  if (decoded.kind !== 'text') {
    throw new CommandFailure(`${name}:${String(decoded.line)} ${decoded.message}`);
  }
  const { documents, syntaxProblems } = parseDocuments(name, decoded.text);
  if (syntaxProblems.length > 0) {
    const lines = syntaxProblems.map(({ line, message }) => `${name}:${String(line)} ${message}`);
    throw new CommandFailure(lines.join('\n'));
  }
  const [document, another] = documents;
  if (document !== undefined && another === undefined) return document;
  throw new CommandFailure(`${name}: must have one YAML document`);
}

function failure(
  name: string,
  problems: readonly CaseProblem[],
  lineOf: ReadCases['lineOf'],
): CommandFailure {
  const lines = problems
    .map(({ path, message }) => ({ line: lineOf(path), text: `${path}: ${message}` }))
    .sort((one, other) => one.line - other.line)
    .map(({ line, text }) => `${name}:${String(line)} ${text}`);
  return new CommandFailure(lines.join('\n'));
}
