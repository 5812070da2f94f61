import { CRITERIA } from '../../../shared/policy/criteria.ts';
import type { CriterionDefinition } from '../../../shared/policy/language/criterion-definition.ts';

const DEFINITIONS: readonly Pick<
  CriterionDefinition,
  'name' | 'form' | 'reasons' | 'ofToolCall' | 'row'
>[] = CRITERIA;

/**
 * Returns docs/policies.md with the tables of the criteria and of their reasons, each between a comment that
 * names it and the comment `end`. Throws if one of them has no place.
 */
export function withPolicyTables(document: string): string {
  const tables = { criteria: criteriaTable(), reasons: reasonsTable() };
  return Object.entries(tables).reduce((text, [name, table]) => {
    const place = new RegExp(`(<!-- ${name}: [^\\n]*-->\\n)[^]*?(<!-- end -->)`);
    if (!place.test(text)) throw new Error(`the document has no place for the table of ${name}`);
    return text.replace(place, (_, begin: string, end: string) => `${begin}\n${table}\n\n${end}`);
  }, document);
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
