import { Environment } from '@marcbachmann/cel-js';

import type { CelRule, CrdSchema } from '../../crds/crd-schema.ts';
import type { SchemaProblem } from './check-schema.ts';
import { memberSchema, membersOf, type DescribedValue } from './described-value.ts';
import { memberPath } from './field-path.ts';
import { isRecord } from '../../shared/runtime/is-record.ts';

/** Evaluates a rule for a value. Throws if the rule does not apply to such a value. */
type RuleProgram = (context: { readonly self: unknown }) => unknown;

/** Returns the problems of a document with the rules and list types of its schema. */
export type RuleCheck = (
  document: unknown,
  options: { readonly isWellFormed: boolean },
) => SchemaProblem[];

/**
 * Compiles the checks that an API server makes besides the shape: rules in CEL, and the uniqueness of
 * items in sets and in lists with keys.
 *
 * A rule that cannot be evaluated counts as broken, unless the document is known to be ill-formed:
 * then only its wrong form is reported.
 */
export function compileRuleCheck(schema: CrdSchema): RuleCheck {
  const programs = new Map<CelRule, RuleProgram>();
  const environment = new Environment().registerVariable('self', 'dyn');
  for (const rule of rulesIn(schema)) programs.set(rule, environment.parse(rule.rule));

  return (document, { isWellFormed }) => {
    const problems: SchemaProblem[] = [];
    for (const { schema: part, value, path } of valuesIn(schema, document, '')) {
      problems.push(...repetitions(part, value, path));
      for (const rule of part['x-kubernetes-validations'] ?? []) {
        if (isBroken(programs.get(rule), value, isWellFormed)) {
          problems.push({ path, message: rule.message });
        }
      }
    }
    return problems;
  };
}

function* rulesIn(schema: CrdSchema): Generator<CelRule> {
  yield* schema['x-kubernetes-validations'] ?? [];
  for (const member of Object.values(schema.properties ?? {})) yield* rulesIn(member);
  if (schema.items) yield* rulesIn(schema.items);
  if (schema.additionalProperties) yield* rulesIn(schema.additionalProperties);
}

/** All values of a document that the schema describes. */
function* valuesIn(schema: CrdSchema, value: unknown, path: string): Generator<DescribedValue> {
  yield { schema, value, path };
  for (const [name, member] of membersOf(value)) {
    const described = memberSchema(schema, name);
    if (described) yield* valuesIn(described, member, memberPath(path, name));
  }
}

function isBroken(program: RuleProgram | undefined, self: unknown, isWellFormed: boolean): boolean {
  try {
    return program?.({ self }) !== true;
  } catch {
    return isWellFormed;
  }
}

/** Items of a set, or of a list with keys, that repeat an earlier item. */
function repetitions(schema: CrdSchema, value: unknown, path: string): SchemaProblem[] {
  const listType = schema['x-kubernetes-list-type'] ?? 'atomic';
  if (listType === 'atomic' || !Array.isArray(value)) return [];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const seen = new Set<string>();
  return value.flatMap((item: unknown, index) => {
    const identity =
      listType === 'set' ? item : keys.map((key) => (isRecord(item) ? item[key] : null));
    const text = JSON.stringify(identity);
    if (!seen.has(text)) {
      seen.add(text);
      return [];
    }
    const what = listType === 'set' ? 'the same value' : `the same ${keys.join(' and ')}`;
    return [{ path: memberPath(path, index), message: `has ${what} as an earlier item` }];
  });
}
