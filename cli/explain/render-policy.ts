import { isRecord } from '../../shared/runtime/is-record.ts';
import type { BlockReport, CriterionReport, PolicyReport } from './policy-report.ts';

/** Writes how a policy decided as a tree, in lines. `hasUser`: the request is not anonymous. */
export function renderPolicy({ allow, deny }: PolicyReport, hasUser: boolean): readonly string[] {
  const absent = hasUser ? 'none' : 'none that counts without a user';
  return ['policy', ...blockLines('allow', allow, absent), ...blockLines('deny', deny, absent)];
}

function blockLines(
  name: string,
  block: BlockReport | undefined,
  absent: string,
): readonly string[] {
  if (block === undefined) return [`  ${name}: ${absent}`];
  return [
    `  ${name}: ${String(block.result)}`,
    ...block.groups.flatMap(({ group, result, criteria }) => [
      `    ${group}: ${String(result)}`,
      ...criteria.map((criterion) => `      ${criterionText(criterion)}`),
    ]),
  ];
}

function criterionText(report: CriterionReport): string {
  const { criterion, operand, value, result, reason } = report;
  const compared = operand === undefined ? criterion : `${criterion} ${operandText(operand)}`;
  const known = value === undefined ? 'no value' : `value ${JSON.stringify(value)}`;
  const decided = result === null ? 'cannot be decided' : String(result);
  return `${compared}: ${decided} (${known}, ${reason})`;
}

function operandText(operand: unknown): string {
  if (!isRecord(operand)) return JSON.stringify(operand);
  const operators = Object.entries(operand);
  return operators.map(([name, value]) => `${name} ${JSON.stringify(value)}`).join(', ');
}
