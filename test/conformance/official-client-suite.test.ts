import { join } from 'node:path';

import { beforeEach, expect, jest } from '@jest/globals';

import { startClientScenarios } from '../support/official-suite/client-scenarios.ts';
import { runSuite } from '../support/official-suite/run-suite.ts';
import { verifies } from '../requirements/verifies.ts';

const COMMAND = join(import.meta.dirname, '../support/official-suite/client-command.ts');
/** A guard against hanging: scenarios run at the same time, on a machine that may be busy. */
const SCENARIO_TIMEOUT_MS = '120000';

beforeEach(() => {
  // The SDK 2.x reports each refresh that was refused.
  jest.spyOn(console, 'warn').mockImplementation(() => undefined);
});

verifies(
  'upstream-oauth.official-suite',
  '14 of 14 scored client scenarios about authorization pass, of 2025-11-25',
  () => expectAllToPass('2025-11-25', 14, ['auth/scope-retry-limit']),
);

verifies(
  'upstream-oauth.official-suite',
  '25 of 25 scored client scenarios about authorization pass, of 2026-07-28',
  () =>
    expectAllToPass('2026-07-28', 25, [
      'auth/iss-normalized',
      'auth/iss-supported-missing',
      'auth/iss-unexpected',
      'auth/iss-wrong-issuer',
      'auth/metadata-issuer-mismatch',
      'auth/resource-mismatch',
      'auth/scope-retry-limit',
    ]),
);

/** Runs the scored scenarios of a revision, in `refused` of which a client must not get what it wants. */
async function expectAllToPass(
  revision: string,
  count: number,
  refused: readonly string[],
): Promise<void> {
  const scored = await scoredScenarios(revision);
  expect(scored).toHaveLength(count);
  await using scenarios = await startClientScenarios(scored);
  const command = `${process.execPath} ${COMMAND} ${scenarios.controller}`;
  const { text } = await runSuite([
    ...['client', '--requirements', revision, '--command', command],
    ...['--timeout', SCENARIO_TIMEOUT_MS, '--verbose'],
  ]);
  const [, summary = ''] = text.split('SUITE SUMMARY');
  const failed = scored.filter((name) => !summary.includes(`✓ ${name}: `));
  // Both say why.
  const reasons = failed.map((name) => `${name}: ${scenarios.failures.get(name) ?? ''}`);
  expect(failed.length === 0 ? '' : `${reasons.join('\n')}\n${summary}`).toBe('');
  // A client that gets nothing passes the checks of many scenarios.
  expect([...scenarios.failures.keys()].sort()).toEqual(refused);
}

/** The client scenarios about authorization that a revision requires. */
async function scoredScenarios(revision: string): Promise<readonly string[]> {
  const { text } = await runSuite(['list', '--requirements', revision]);
  const [required = ''] = text.split('never scored');
  return [...required.matchAll(/^ {2}- (auth\/\S+)$/gm)].map(([, name = '']) => name);
}
