import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../../..');

test('docs/tracing.md lists exactly the spans and attributes that the code can name', () => {
  const code = read('shared/telemetry/tracing/names.ts');
  const rows = tablesOfSpans(read('docs/tracing.md'));
  const spans = rows.map(({ span }) => span);

  expect(namesOf('SpanName', code).length).toBeGreaterThan(5);
  expect([...spans].sort()).toEqual(namesOf('SpanName', code));
  expect(new Set(rows.flatMap(({ attributes }) => attributes))).toEqual(
    new Set(namesOf('AttributeName', code)),
  );
});

test('docs/tracing.md names every event of a span', () => {
  const text = read('docs/tracing.md');
  const events = namesOf('EventName', read('shared/telemetry/tracing/names.ts'));
  expect(events.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});

/** Returns the members of a union of texts, sorted. */
function namesOf(type: string, code: string): readonly string[] {
  const [, union = ''] = new RegExp(`^export type ${type} =(.*?);$`, 'ms').exec(code) ?? [];
  return [...union.matchAll(/'([^']+)'/g)].map(([, name = '']) => name).sort();
}

/** Returns the rows of all tables that begin with a column `Span`. */
function tablesOfSpans(
  text: string,
): readonly { readonly span: string; readonly attributes: readonly string[] }[] {
  const tables = [...text.matchAll(/^\| Span .*\n\|[- |]+\n((?:\|.*\n)+)/gm)];
  const lines = tables.flatMap(([, body = '']) => body.trim().split('\n'));
  return lines.map((line) => {
    const [, first = '', second = ''] = line.split('|');
    return { span: quoted(first)[0] ?? '', attributes: quoted(second) };
  });
}

function quoted(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
