import { expect, test } from '@jest/globals';
import fc from 'fast-check';

import { requestProblems } from '../../../cli/explain/check-description.ts';
import type { RequestDescription } from '../../../cli/explain/request-description.ts';
import type { Route } from '../../../crds/types.ts';
import type { LogRecord } from '../../support/authorization-log-world.ts';
import { startExplainWorld, type Both, type Login } from '../../support/explain-world.ts';
import { membersOf } from '../../support/http-client.ts';
import { openForAll } from '../../support/open-for-all.ts';

type Policy = NonNullable<Route['spec']['policy']>;

const POLICIES = 60;
const REQUESTS = 8;

const world = openForAll(startExplainWorld);

const words = fc.constantFrom('alice', 'example.com', 'engineering', 'admins', 'e', 'read_file');
const matcher = fc.oneof(
  fc.record({ is: words }),
  fc.record({ starts_with: words }),
  fc.record({ contains: words }),
  fc.record({ in: fc.array(words, { minLength: 1, maxLength: 2 }) }),
  fc.record({ not_in: fc.array(words, { minLength: 1, maxLength: 2 }) }),
);
const paths = fc.constantFrom('/mcp', '/app', '/app/a', '/app/a%20b', '/open', '/other');
type Json = Readonly<Record<string, unknown>>;

const common: readonly fc.Arbitrary<Json>[] = [
  fc.constantFrom({ accept: true }, { reject: true }, { authenticated_user: true }),
  ...['user', 'email', 'domain', 'groups', 'claim/name', 'claim/groups'].map((name) =>
    fc.record({ [name]: matcher }),
  ),
  fc.record({ http_method: fc.record({ is: fc.constantFrom('GET', 'POST') }) }),
  fc.record({ http_path: fc.record({ starts_with: paths }) }),
];
const ofTimes: readonly fc.Arbitrary<Json>[] = [
  fc.constantFrom<Json>(
    { date: { after: '2020-01-01' } },
    { day_of_week: 'mon-fri' },
    { time_of_day: { after: '12:00', timezone: 'Asia/Tokyo' } },
    { source_ip: '127.0.0.0/8' },
    { source_ip: ['192.0.2.0/24', 'fd00::/8'] },
  ),
];
const webCriterion = fc.oneof(
  ...common,
  ...ofTimes,
  fc.constantFrom<Json>({ cors_preflight: true }),
);
const mcpCriterion = fc.oneof(
  ...common,
  ...ofTimes,
  ...['mcp_tool', 'mcp_method', 'mcp_resource', 'mcp_prompt', 'mcp_tool_argument/alice'].map(
    (name) => fc.record({ [name]: matcher }),
  ),
);

function policyOf(criterion: fc.Arbitrary<Json>): fc.Arbitrary<Policy> {
  const group = fc.array(criterion, { minLength: 1, maxLength: 3 });
  const block = fc
    .record({ and: group, or: group, not: group, nor: group }, { requiredKeys: [] })
    .filter((groups) => Object.keys(groups).length > 0);
  const everybody = fc.constant({ and: [{ accept: true }] });
  return fc.record({ allow: fc.oneof(block, everybody), deny: block }, { requiredKeys: ['allow'] });
}

const json = fc.jsonValue({ maxDepth: 2 });
const message: fc.Arbitrary<RequestDescription> = fc.oneof(
  fc.record({
    tool: fc.oneof(words, fc.string({ maxLength: 300 })),
    arguments: fc.dictionary(fc.oneof(words, fc.string()), fc.oneof(words, json)),
  }),
  fc.record({ mcpMethod: fc.constantFrom('tools/list', 'Tools/Call', 'initialize', 'ping') }),
  fc.record({ resource: words }),
  fc.record({ prompt: words, arguments: fc.dictionary(words, json) }),
  fc.record({ method: fc.constantFrom('GET', 'DELETE', 'PUT', 'OPTIONS') }),
);
const headers = fc.record(
  {
    'access-control-request-method': fc.constantFrom('GET', 'POST'),
    origin: fc.constantFrom('https://elsewhere.example', 'http://localhost:1'),
    'x-forwarded-for': fc.constant('192.0.2.1'),
    accept: fc.constantFrom('*/*', 'text/html', 'text/event-stream'),
    'content-type': fc.constantFrom('text/plain', 'application/json'),
    'mcp-protocol-version': fc.constantFrom('2025-06-18', '2026-07-28'),
  },
  { requiredKeys: [] },
);
const mcpPaths = fc.constantFrom('/mcp', '/mcp/', '/mcp/files', '/mcp/other', '/');
const webPaths = fc.oneof(paths, fc.constantFrom('/app/../open', '/%61pp', '/app//a', '/a?q=1'));
const webMethods = fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD');

interface Asked {
  readonly host: 'mcp' | 'web';
  readonly path: string;
  readonly request: RequestDescription;
  readonly login: Login;
}

const login = fc.constantFrom<Login>('alice', 'alice', 'carol', 'carol', undefined);
const asked: fc.Arbitrary<Asked> = fc.oneof(
  fc.record({
    host: fc.constant('mcp'),
    path: mcpPaths,
    request: fc
      .tuple(message, headers)
      .map(([parts, fields]) => ({ ...parts, headers: fields }))
      .filter((request) => requestProblems(request).length === 0),
    login,
  }),
  fc.record({
    host: fc.constant('web'),
    path: webPaths,
    request: fc.record({ method: webMethods, headers }),
    login,
  }),
);

test('an explanation agrees with the gateway on decision, answer, reasons and log record', async () => {
  const property = fc.asyncProperty(
    policyOf(mcpCriterion),
    policyOf(webCriterion),
    fc.array(asked, { minLength: REQUESTS, maxLength: REQUESTS }),
    async (mcp, web, all) => {
      await world().serve({ mcp, web });
      for (const { host, path, request, login: who } of all) {
        expectAgreement(await world().ask({ ...request, url: world()[host] + path }, who));
      }
    },
  );
  await fc.assert(property, { numRuns: POLICIES });
}, 120_000);

function expectAgreement({ report, answer, hasReachedUpstream, records }: Both): void {
  expect(report.decision === 'allow').toBe(hasReachedUpstream);
  if (report.decision !== 'allow') expect(report.answer?.status).toBe(answer.status);
  expect(report.answer?.challenge).toBe(answer.headers['www-authenticate']);
  const { allow, deny } = report.policy ?? {};
  if (report.policy !== undefined) {
    expect(allow?.result === true && deny?.result !== true).toBe(hasReachedUpstream);
  }
  const explained = report.log.filter(({ message: text }) => text === 'authorize check');
  expect(explained.map(withoutChance)).toEqual(records.map(withoutChance));
  const reason = answer.status === 401 || hasReachedUpstream ? undefined : reasonIn(answer);
  expect(report).toMatchObject(reason === undefined ? {} : { answer: { reason } });
}

function withoutChance({ time, 'request-id': id, ...record }: LogRecord): LogRecord {
  return { ...record, hasTime: typeof time, hasId: typeof id };
}

/** The reason in the error of JSON-RPC, or in that of plain HTTP; none if it is a page. */
function reasonIn(answer: Both['answer']): unknown {
  const isJson = answer.headers['content-type'] === 'application/json';
  if (!isJson || answer.body === '') return undefined;
  const { error } = membersOf(answer);
  if (typeof error === 'string') return error;
  return (error as { data?: { reason?: unknown } } | undefined)?.data?.reason;
}
