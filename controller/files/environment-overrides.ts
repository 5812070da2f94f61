import type { Environment } from '../../shared/runtime/environment.ts';
import { isRecord } from '../../shared/runtime/is-record.ts';
import type { SourcePlace } from './origins.ts';
import {
  isGroup,
  resolveSynonym,
  SETTINGS_KEYS,
  type PlainKeys,
  type PlainValue,
} from './plain/plain-keys.ts';
import type { Mapping } from './plain/translate-keys.ts';

/** A setting with a value from an environment variable. */
export interface Override {
  readonly variable: string;
  /** Members of `spec`, outermost first. */
  readonly field: readonly string[];
  readonly value: string | readonly string[];
}

/**
 * Reads the settings from the environment, which win over the files. Lists are separated by commas;
 * an empty variable counts as unset.
 */
export function readOverrides(environment: Environment): readonly Override[] {
  return settingsVariables().flatMap(({ name, form, field, ...key }) => {
    const text = environment[name]?.trim();
    if (text === undefined || text === '') return [];
    const value = form === 'list' ? splitList(text) : resolveSynonym(key, text);
    return value === undefined ? [] : [{ variable: name, field, value }];
  });
}

/** An environment variable that sets a setting. */
export interface SettingsVariable extends Pick<PlainValue, 'synonyms'> {
  readonly name: string;
  readonly form: 'text' | 'list';
  readonly field: readonly string[];
}

/**
 * All variables that set a setting.
 *
 * @internal Exported for the test of the documents.
 */
export function settingsVariables(): readonly SettingsVariable[] {
  return variablesOf(SETTINGS_KEYS, []);
}

/** Applies overrides to a GatewaySettings manifest. */
export function overrideSettings(
  manifest: Mapping,
  overrides: readonly Override[],
): { readonly manifest: Mapping; readonly origins: readonly SourcePlace[] } {
  const spec = overrides.reduce<unknown>(
    (result, { field, value }) => withField(result, field, value),
    manifest['spec'],
  );
  const origins = overrides.map(({ variable, field }) => ({
    field: ['spec', ...field].join('.'),
    written: variable,
    isEnvironment: true as const,
  }));
  return { manifest: { ...manifest, ...(spec === undefined ? {} : { spec }) }, origins };
}

function variablesOf(keys: PlainKeys, parents: readonly string[]): readonly SettingsVariable[] {
  return Object.values(keys).flatMap((key) => {
    const field = [...parents, ...key.field.split('.')];
    return isGroup(key) ? variablesOf(key.keys, field) : variableOf(key, field);
  });
}

function variableOf(
  { environment, synonyms }: PlainValue,
  field: readonly string[],
): readonly SettingsVariable[] {
  if (environment === undefined) return [];
  return [{ ...environment, field, ...(synonyms && { synonyms }) }];
}

function splitList(text: string): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** Keeps a value that should be a mapping but is not: the schema reports it. */
function withField(target: unknown, field: readonly string[], value: unknown): unknown {
  const [name, ...rest] = field;
  if (name === undefined) return value;
  if (target !== undefined && !isRecord(target)) return target;
  return { ...target, [name]: withField(target?.[name], rest, value) };
}
