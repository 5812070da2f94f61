import { isRecord } from '../../../shared/runtime/is-record.ts';
import { nearestName } from '../../validate/nearest-name.ts';
import type { SourcePlace } from '../origins.ts';
import { isGroup, resolveSynonym, type PlainKeys, type PlainValue } from './plain-keys.ts';

/** A YAML mapping. */
export type Mapping = Readonly<Record<string, unknown>>;

/** One thing wrong with a plain form, with the path of the key as it is written. */
export interface PlainProblem {
  readonly path: string;
  readonly message: string;
}

/** The fields that keys are translated to. */
export interface Translation {
  readonly fields: Mapping;
  readonly origins: readonly SourcePlace[];
  readonly problems: readonly PlainProblem[];
}

/** The path of a mapping, in the resource and as it is written. */
export interface KeyPlace {
  readonly field: string;
  readonly written: string;
}

/**
 * Translates a mapping of plain keys into fields of a resource.
 *
 * An unknown key is a problem and never ignored: it may be a misspelt policy. `elsewhere` names keys
 * that the caller reads itself.
 */
export function translateKeys(
  mapping: Mapping,
  keys: PlainKeys,
  place: KeyPlace,
  elsewhere: readonly string[] = [],
): Translation {
  const known = [...Object.keys(keys), ...elsewhere];
  const unknown = Object.keys(mapping).filter((key) => !known.includes(key));
  const translated = Object.entries(keys).map(([key, { field, ...rest }]) => {
    const below = { field: join(place.field, field), written: join(place.written, key) };
    const value = Object.hasOwn(mapping, key) ? mapping[key] : undefined;
    return { field, value: translateValue(value, { field, ...rest }, below) };
  });
  const fields: Record<string, unknown> = {};
  for (const { field, value } of translated) setField(fields, field, value.fields);
  return {
    fields,
    origins: [place, ...translated.flatMap(({ value }) => value.origins)],
    problems: [
      ...unknown.map((key) => unknownKey(key, known, place)),
      ...translated.flatMap(({ value }) => value.problems),
    ],
  };
}

interface TranslatedValue {
  readonly fields: unknown;
  readonly origins: readonly SourcePlace[];
  readonly problems: readonly PlainProblem[];
}

function translateValue(value: unknown, key: PlainKeys[string], place: KeyPlace): TranslatedValue {
  if (!isGroup(key)) {
    return { fields: translateScalar(value, key), origins: [place], problems: [] };
  }
  // A value that should be a mapping but is not is kept: the schema reports it.
  const isReadable = isRecord(value);
  const translation = translateKeys(isReadable ? value : {}, key.keys, place, key.secretKeys);
  return isReadable ? translation : { ...translation, fields: value };
}

function translateScalar(value: unknown, key: PlainValue): unknown {
  if (typeof value === 'string') return resolveSynonym(key, value);
  return key.isDecimal === true && typeof value === 'number' ? String(value) : value;
}

function unknownKey(key: string, known: readonly string[], place: KeyPlace): PlainProblem {
  const nearest = nearestName(key, known);
  const all = known.length === 0 ? 'no key is known here' : `known are ${known.join(', ')}`;
  const hint = nearest === undefined ? all : `did you mean "${nearest}"?`;
  return { path: join(place.written, key), message: `unknown key "${key}", ${hint}` };
}

function setField(fields: Record<string, unknown>, path: string, value: unknown): void {
  if (value === undefined) return;
  const dot = path.indexOf('.');
  if (dot === -1) {
    fields[path] = value;
    return;
  }
  const parent = path.slice(0, dot);
  const inner: Record<string, unknown> = { ...(isRecord(fields[parent]) ? fields[parent] : {}) };
  setField(inner, path.slice(dot + 1), value);
  fields[parent] = inner;
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
