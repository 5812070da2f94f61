import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import {
  ACCESS_LOG_FIELDS,
  AUTHORIZE_LOG_FIELDS,
  DEFAULT_ACCESS_LOG_FIELDS,
  DEFAULT_AUTHORIZE_LOG_FIELDS,
} from '../../../shared/snapshot/log-fields.ts';

const ROOT = join(import.meta.dirname, '../../..');
const ANY_HEADER = 'headers.NAME';

describe.each([
  ['The authorization log', AUTHORIZE_LOG_FIELDS, DEFAULT_AUTHORIZE_LOG_FIELDS],
  ['The access log', ACCESS_LOG_FIELDS, DEFAULT_ACCESS_LOG_FIELDS],
])('docs/logs.md, %s', (heading, fields, defaults) => {
  test('lists exactly the fields that settings may name, in the order of a line', () => {
    const listed = rowsOf(heading, '| Field ').map(([field]) => field);
    expect(listed).toEqual([...fields, ANY_HEADER].map((field) => `\`${field}\``));
  });

  test('says which are the default ones', () => {
    const isDefault = rowsOf(heading, '| Field ').filter(([, byDefault]) => byDefault === 'yes');
    const listed = isDefault.map(([field = '']) => field.replaceAll('`', ''));
    expect(new Set(listed)).toEqual(new Set(defaults));
  });

  test('has an example with fields of the table only', () => {
    const names = Object.keys(exampleOf(heading));
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) expect(fields).toContain(name);
  });
});

describe('docs/logs.md, The audit log', () => {
  const code = read('proxy/telemetry/audit-log.ts');

  test('lists exactly the events', () => {
    const [, events = ''] = /const EVENTS = \{(.*?)\} as const/s.exec(code) ?? [];
    const names = [...events.matchAll(/^ {2}'([\w-]+)':/gm)];
    const written = names.map(([, event = '']) => `\`${event}\``);
    expect(written.length).toBeGreaterThan(10);
    expect(rowsOf('The audit log', '| Event ').map(([event]) => event)).toEqual(written);
  });

  test('lists exactly the fields', () => {
    const [, members = ''] = /const fields = \{\n(.*?)\n {2}\};/s.exec(code) ?? [];
    const own = [...members.matchAll(/^ {4}'?([\w-]+)'?:/gm)].map(([, field]) => field);
    const [, applied = ''] =
      /interface AppliedChanges \{\n(.*?)\n\}/s.exec(read('proxy/telemetry/applied-changes.ts')) ??
      [];
    const ofChanges = [...applied.matchAll(/^ {2}readonly (\w+):/gm)].map(([, field]) => field);
    expect(own.length).toBeGreaterThan(10);
    expect(rowsOf('The audit log', '| Field ').map(([field]) => field)).toEqual(
      ['event', ...own, ...ofChanges].map((field) => `\`${String(field)}\``),
    );
  });

  test('has an example with fields of the table only', () => {
    const { level, service, time, message, ...members } = exampleOf('The audit log');
    expect([level, service, time, message]).not.toContain(undefined);
    const listed = rowsOf('The audit log', '| Field ').map(([field]) => field);
    for (const name of Object.keys(members)) expect(listed).toContain(`\`${name}\``);
  });
});

test('docs/kubernetes.md lists exactly the events of the audit log of controllers', () => {
  const code = read('controller/publish/publication-audit.ts');
  const [, events = ''] = /const EVENTS = \{(.*?)\} as const/s.exec(code) ?? [];
  const [, section = ''] =
    /^### Who changed what$(.*?)^### /ms.exec(read('docs/kubernetes.md')) ?? [];
  const written = [...events.matchAll(/^ {2}'([\w-]+)':/gm)].map(([, event]) => event);
  const listed = [...section.matchAll(/^\| `([\w-]+-[\w-]+)` /gm)].map(([, event]) => event);

  expect(written.length).toBeGreaterThan(1);
  expect(listed).toEqual(written);
});

/** The cells of the rows of the first table in a section that begins so. */
function rowsOf(heading: string, start: string): readonly (readonly string[])[] {
  const lines = sectionOf(heading).split('\n');
  const begin = lines.findIndex((line) => line.startsWith(start));
  const end = lines.findIndex((line, index) => index > begin && !line.startsWith('|'));
  return lines.slice(begin + 2, end).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function exampleOf(heading: string): Readonly<Record<string, unknown>> {
  const [, json = ''] = /```json\n(.*?)```/s.exec(sectionOf(heading)) ?? [];
  return JSON.parse(json) as Readonly<Record<string, unknown>>;
}

function sectionOf(heading: string): string {
  const section = read('docs/logs.md')
    .split(/^## /m)
    .find((each) => each.startsWith(`${heading}\n`));
  return section ?? '';
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
