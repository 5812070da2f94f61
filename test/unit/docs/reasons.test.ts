import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { upstreamAuthState } from '../../../controller/status/upstream-auth-state.ts';

const ROOT = join(import.meta.dirname, '../../..');
const DOCUMENT = read('docs/kubernetes.md');
const EVENTS_FILE = 'controller/status/events-of-change.ts';

/** Statuses show this reason of a problem as `InvalidSpec`. */
const NEVER_SHOWN = 'InvalidManifest';

describe('docs/kubernetes.md', () => {
  test('lists exactly the reasons that conditions can have', () => {
    const files = globSync('controller/status/*.ts', { cwd: ROOT });
    const written = files.filter((file) => file !== EVENTS_FILE).flatMap(writtenReasons);
    const ofProblems = problemReasons().filter((reason) => reason !== NEVER_SHOWN);

    const section = sectionOf('## Status of a Route', '### Rejected resources');
    const inText = [...section.matchAll(/with the reason\s`(\w+)`/g)].map(
      ([, reason = '']) => reason,
    );
    const listed = [...reasonColumn(section), ...inText];

    expect(sorted(listed)).toEqual(sorted([...written, ...ofProblems, ...upstreamReasons()]));
  });

  test('lists exactly the reasons that Events have besides those of conditions', () => {
    const section = sectionOf('### Events', '## ');

    expect(sorted(reasonColumn(section))).toEqual(sorted(writtenReasons(EVENTS_FILE)));
  });
});

function writtenReasons(file: string): readonly string[] {
  return [...read(file).matchAll(/\breason: '(\w+)'/g)].map(([, reason = '']) => reason);
}

/** The reasons of proxies, as the condition shows them. */
function upstreamReasons(): readonly string[] {
  const reasons = membersOf('UpstreamAuthReason', 'proxy/errors/upstream-auth-error.ts');
  return reasons.map((reason) => {
    const found = { at: 0, failure: { reason, message: '' } };
    const verdict = { upstreamAuth: { configuration: '' } };
    return upstreamAuthState(verdict, { found, since: undefined }, undefined)?.reason ?? '';
  });
}

function problemReasons(): readonly string[] {
  return membersOf('ProblemReason', 'controller/validate/problem.ts');
}

function membersOf(type: string, file: string): readonly string[] {
  const [, members = ''] = new RegExp(`type ${type} =([^;]*);`).exec(read(file)) ?? [];
  return [...members.matchAll(/'([\w-]+)'/g)].map(([, reason = '']) => reason);
}

/** The words in the second column of all tables, without rows that refer to another condition. */
function reasonColumn(section: string): readonly string[] {
  return [...section.matchAll(/^\|[^|]+\| *(`[^|]+)\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, reason = '']) => reason),
  );
}

function sectionOf(title: string, next: string): string {
  const begin = DOCUMENT.indexOf(`\n${title}\n`) + 1;
  const end = DOCUMENT.indexOf(`\n${next}`, begin);
  if (begin === 0 || end === -1) throw new Error(`no section between "${title}" and "${next}"`);
  return DOCUMENT.slice(begin, end);
}

function sorted(reasons: readonly string[]): readonly string[] {
  return [...new Set(reasons)].sort();
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
