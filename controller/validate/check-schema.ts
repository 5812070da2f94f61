import type { ErrorObject } from 'ajv';

import { didYouMean } from './did-you-mean.ts';
import { memberPath, pathOfPointer } from './field-path.ts';
import { patternInWords } from './patterns-in-words.ts';

/** One thing wrong with a document, at a path in it. */
export interface SchemaProblem {
  readonly path: string;
  readonly message: string;
}

/** The most problems that are reported of one resource. */
export const MAX_PROBLEMS = 20;

/** A check that was generated from a schema. A call that returns false replaces its errors. */
export interface GeneratedCheck {
  (value: unknown): boolean;
  readonly errors?: readonly ErrorObject[] | null;
}

/** Returns the problems of a document. Messages never repeat values. */
export function schemaProblems(check: GeneratedCheck, document: unknown): readonly SchemaProblem[] {
  if (check(document)) return [];
  return (check.errors ?? [])
    .filter((error) => !isRepeated(error))
    .slice(0, MAX_PROBLEMS)
    .map(toProblem);
}

/** `propertyNames` repeats another error without its reason, and `enum` says more than a wrong type. */
function isRepeated({ keyword, parentSchema }: ErrorObject): boolean {
  return (
    keyword === 'propertyNames' || (keyword === 'type' && parentSchema?.['enum'] !== undefined)
  );
}

function toProblem(error: ErrorObject): SchemaProblem {
  const { propertyName } = error;
  const holder = pathOfPointer(error.instancePath);
  const path = propertyName === undefined ? holder : memberPath(holder, propertyName);
  // ajv documents the parameters of each keyword; all are strings, numbers or lists of strings.
  const params = error.params as Readonly<Record<string, string & readonly string[]>>;
  switch (error.keyword) {
    case 'required':
      return { path: memberPath(path, params['missingProperty'] ?? ''), message: 'is required' };
    case 'additionalProperties': {
      const name = params['additionalProperty'] ?? '';
      return { path: memberPath(path, name), message: unknownField(name, error.parentSchema) };
    }
    case 'type':
      return {
        path,
        message: typeInWords(params['type'] ?? '', error.parentSchema) + unitOf(path),
      };
    case 'const':
      return { path, message: `must be ${String(error.schema)}` };
    case 'enum':
      return { path, message: `must be one of ${(params['allowedValues'] ?? []).join(', ')}` };
    case 'pattern':
      return { path, message: patternInWords(params['pattern'] ?? '') };
    default:
      return { path, message: limitInWords(error.keyword, Number(params['limit'])) };
  }
}

function unknownField(name: string, parentSchema: ErrorObject['parentSchema']): string {
  const properties: unknown = parentSchema?.['properties'];
  const known = typeof properties === 'object' && properties !== null ? properties : {};
  return `is not a known field${didYouMean(name, Object.keys(known))}`;
}

/** Says what the text has to be where that is known: `30` should be a duration such as `30s`. */
function typeInWords(type: string, parentSchema: ErrorObject['parentSchema']): string {
  const pattern: unknown = parentSchema?.['pattern'];
  const words = typeof pattern === 'string' ? patternInWords(pattern) : '';
  if (words.startsWith('must be a')) return words;
  return `must be ${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`;
}

/** Everywhere else durations have units, so people write them here too. */
function unitOf(path: string): string {
  return path.endsWith('Milliseconds') ? ', in milliseconds' : '';
}

const LIMITS: Readonly<Record<string, readonly [before: string, after: string]>> = {
  minLength: ['must have at least', 'characters'],
  maxLength: ['must have at most', 'characters'],
  minItems: ['must have at least', 'items'],
  maxItems: ['must have at most', 'items'],
  minProperties: ['must have at least', 'fields'],
  maxProperties: ['must have at most', 'fields'],
  minimum: ['must be at least', ''],
  maximum: ['must be at most', ''],
};

function limitInWords(keyword: string, limit: number): string {
  const [before, after] = LIMITS[keyword] ?? [`must satisfy ${keyword}`, ''];
  if (keyword.startsWith('min') && keyword !== 'minimum' && limit === 1) return 'must not be empty';
  const unit = limit === 1 ? after.replace(/s$/, '') : after;
  return `${before} ${String(limit)} ${unit}`.trimEnd();
}
