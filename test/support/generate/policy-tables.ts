import { CRITERIA } from '../../../shared/policy/criteria.ts';
import type { CriterionDefinition } from '../../../shared/policy/language/criterion-definition.ts';
import { withTables } from './document-tables.ts';

const DEFINITIONS: readonly Pick<
  CriterionDefinition,
  'name' | 'form' | 'reasons' | 'ofToolCall' | 'row'
>[] = CRITERIA;

/** Returns docs/policies.md with the tables of the criteria and of their reasons. */
export function withPolicyTables(document: string): string {
  return withTables(document, { criteria: criteriaTable(), reasons: reasonsTable() });
}

function criteriaTable(): string {
  const rows = DEFINITIONS.map(
    ({ name, form, row: { looksAt, compares } }) =>
      `| \`${writtenName(name, form)}\` | ${looksAt} | ${compares} |`,
  );
  return ['| Criterion | Looks at | Compares |', '| --- | --- | --- |', ...rows].join('\n');
}

function reasonsTable(): string {
  const ofCalls = DEFINITIONS.filter(({ ofToolCall }) => ofToolCall === true);
  const rows = DEFINITIONS.filter((definition) => !ofCalls.includes(definition)).map(
    ({ name, form, reasons }) => {
      const codes = codesOf(reasons);
      const results = codes.length === 1 ? '' : ' is true, false';
      return `| ${codes.join(', ')} | \`${writtenName(name, form)}\`${results} |`;
    },
  );
  const aboutCalls = [...ofCalls.flatMap(({ reasons }) => codesOf(reasons)), '`mcp-no-tool`'];
  return [
    '| Code | Logged if |',
    '| --- | --- |',
    ...rows,
    `| ${aboutCalls.join(', ')} | see below |`,
  ].join('\n');
}

function codesOf({ whenTrue, whenFalse }: CriterionDefinition['reasons']): readonly string[] {
  return [...new Set([whenTrue, whenFalse])].map((code) => `\`${code}\``);
}

function writtenName(name: string, form: CriterionDefinition['form']): string {
  return form === 'matcher-at-path' ? `${name}/<path>` : name;
}
