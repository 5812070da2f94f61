import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../../..');

test('docs/tokens.md lists exactly the events of the audit log', () => {
  const [, code = ''] =
    /const EVENTS = \{(.*?)\} as const/s.exec(read('proxy/telemetry/audit-log.ts')) ?? [];
  const [, section = ''] = /^## The audit log$(.*?)^## /ms.exec(read('docs/tokens.md')) ?? [];
  const written = [...code.matchAll(/^ {2}'([\w-]+)':/gm)].map(([, event]) => event);
  const listed = [...section.matchAll(/^\| `([\w-]+)` /gm)].map(([, event]) => event);

  expect(written.length).toBeGreaterThan(10);
  expect(listed).toEqual(written);
});

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
