import { renderReport } from '../explain/render-report.ts';
import type { CaseFailure, CaseResult } from './run-cases.ts';

/** Writes results in the Test Anything Protocol, which people and test runners read. */
export function testReport(results: readonly CaseResult[]): string {
  const failed = results.filter(({ failure }) => failure !== undefined).length;
  const lines = [
    'TAP version 14',
    `1..${String(results.length)}`,
    ...results.flatMap(resultLines),
    `# ${String(results.length - failed)} passed, ${String(failed)} failed`,
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function resultLines({ name, place, failure }: CaseResult, index: number): readonly string[] {
  const point = `${String(index + 1)} - ${escaped(name)}`;
  if (failure === undefined) return [`ok ${point}`];
  return [`not ok ${point}`, ...comment([place, ...failureLines(failure)])];
}

function failureLines({ messages, report }: CaseFailure): readonly string[] {
  const tree = report === undefined ? [] : ['', ...renderReport(report).trimEnd().split('\n')];
  return [...messages, ...tree];
}

function comment(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `#   ${line}`.trimEnd());
}

/** A `#` begins a directive such as `# SKIP`. */
function escaped(name: string): string {
  return name.replaceAll(/[\\#]/g, '\\$&').replaceAll(/[\s\p{Cc}]+/gu, ' ');
}
