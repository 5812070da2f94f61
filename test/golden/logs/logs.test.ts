import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';

import type { GatewaySettings, Route } from '../../../crds/types.ts';
import { openAuthorizationLog } from '../../support/authorization-log-world.ts';
import { callMcp } from '../../support/signed-in-client.ts';

const FOLDER = new URL('./', import.meta.url);
const INPUT = '.in.yaml';

/** `*.in.yaml`: a request of Alice to an MCP route. */
interface GoldenCase {
  readonly description: string;
  /** The default fields if absent. */
  readonly authorizeLogFields?: GatewaySettings['spec']['authorizeLogFields'];
  readonly policy: NonNullable<Route['spec']['policy']>;
  readonly message: object;
  readonly headers?: Readonly<Record<string, string>>;
}

const CASES = readdirSync(FOLDER)
  .filter((file) => file.endsWith(INPUT))
  .map((file) => {
    const golden = parse(readFileSync(new URL(file, FOLDER), 'utf8')) as GoldenCase;
    return { file: file.slice(0, -INPUT.length), golden, description: golden.description };
  });

const world = openAuthorizationLog();

describe('requests have the lines of the authorization log beside them', () => {
  test.each(CASES)('$file: $description', async ({ file, golden }) => {
    const { policy, authorizeLogFields, message, headers } = golden;
    await world().serve(policy, authorizeLogFields);
    await callMcp(world().mcp, world().client.accessToken, message, headers);
    const written = stringify(inEveryRun(world().record()), { lineWidth: 0, singleQuote: true });
    const output = new URL(`${file}.out.yaml`, FOLDER);
    // Only `make golden` rewrites the output; review its diff.
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(output, written);

    expect(written).toBe(readFileSync(output, 'utf8'));
  });
});

/** Values that each run makes anew. */
const MADE_ANEW: Readonly<Record<string, RegExp>> = {
  time: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  'request-id': /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/,
  host: /^localhost:\d+$|^[\w.-]+:\d+$/,
  'session-id': /^[\w-]{43}$/,
};

/** Replaces values that each run makes anew by the names of their fields. */
function inEveryRun(record: Readonly<Record<string, unknown>>): unknown {
  return Object.fromEntries(
    Object.entries(record).map(([field, value]) => {
      const form = MADE_ANEW[field];
      return [field, form?.test(String(value)) === true ? `<${field}>` : value];
    }),
  );
}
