import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';

import { startBearerWorld } from '../../support/bearer-world.ts';
import type { RouteSpec, Settings } from '../../support/gateway-with-users.ts';
import { membersOf, send, type Answer, type RequestOptions } from '../../support/http-client.ts';
import { openForAll } from '../../support/open-for-all.ts';
import { callMcp } from '../../support/signed-in-client.ts';

type Headers = NonNullable<RequestOptions['headers']>;
type Claims = Readonly<Record<string, unknown>>;

const text = readFileSync(join(import.meta.dirname, '../../../docs/bearer-tokens.md'), 'utf8');

/** What a policy calls the issuer of the cluster. */
const ISSUER_OF_CLUSTER = 'https://kubernetes.default.svc.cluster.local';

const world = openForAll(startBearerWorld);

/** An example: the manifests, and the claims of the token that the text shows for them. */
interface Example {
  readonly title: string;
  readonly settings: Settings;
  readonly routes: Readonly<Record<string, RouteSpec>>;
  readonly claims: Claims | undefined;
}

const EXAMPLES = [...text.matchAll(/^## (.*)\n((?:(?!^## )[^])*)/gm)].flatMap(
  ([, title = '', section = '']) => exampleIn(title, section),
);

function exampleIn(title: string, section: string): readonly Example[] {
  const [, yaml] = /```yaml\n(.*?)```/s.exec(section) ?? [];
  if (yaml === undefined) return [];
  const [, json] = /```json\n(.*?)```/s.exec(section) ?? [];
  const manifests = parseAllDocuments(yaml).map((document) => document.toJS() as Manifest);
  const settings = manifests.find(({ kind }) => kind === 'GatewaySettings')?.spec ?? {};
  const routes = manifests.filter(({ kind }) => kind === 'Route');
  const claims = json === undefined ? undefined : (JSON.parse(json) as Claims);
  const byName = Object.fromEntries(routes.map(({ metadata, spec }) => [metadata.name, spec]));
  return [{ title, settings, routes: byName as Example['routes'], claims }];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: object;
}

/** Serves an example with providers and an upstream on this machine. Returns the URL of its route. */
async function serve({ settings, routes }: Example): Promise<string> {
  const { users, machines, upstream } = world();
  const identityProviders = (settings.identityProviders ?? []).map((provider) => ({
    ...provider,
    issuerUrl: provider.audiences === undefined ? users.identityProvider.issuer : machines.issuer,
  }));
  const [[name, spec] = ['', undefined]] = Object.entries(routes);
  if (spec === undefined) throw new Error('the example has no route');
  const from = users.originOf(name);
  const here = JSON.stringify(spec).replaceAll(ISSUER_OF_CLUSTER, machines.issuer);
  await users.configure(
    { [name]: { ...(JSON.parse(here) as RouteSpec), from, to: upstream.origin } },
    { ...settings, identityProviders },
  );
  return from;
}

describe('An example in docs/bearer-tokens.md', () => {
  test('is there for each kind of caller', () => {
    expect(EXAMPLES.map(({ title }) => title)).toEqual([
      'Machines in CI',
      'Workloads on an MCP route',
      'Applications that act for a user',
    ]);
  });

  const ofMachines = EXAMPLES.filter(({ claims }) => claims !== undefined);

  test.each(ofMachines)('lets exactly the token of the text in: $title', async (example) => {
    const { claims = {} } = example;
    const url = await serve(example);
    const isMcp = Object.values(example.routes).some(({ mcp }) => mcp !== undefined);
    const statusOf = async (changes: Claims): Promise<number> => {
      const token = await world().machines.sign({ ...claims, ...changes });
      const headers = { authorization: `Bearer ${token}` };
      const answer = isMcp
        ? await callMcp(url, token, { jsonrpc: '2.0', id: 1, method: 'tools/list' })
        : await send(url, { headers });
      return answer.status;
    };
    expect(await statusOf({})).toBe(200);
    expect(await statusOf({ aud: 'somebody-else' })).toBe(401);
    const policy = JSON.stringify(Object.values(example.routes));
    const tested = Object.keys(claims).filter((name) => policy.includes(`claim/${name}"`));
    const names = policy.includes('"user"') ? ['sub', ...tested] : tested;
    expect(names).not.toEqual([]);
    for (const name of names) expect(await statusOf({ [name]: 'another' })).toBe(403);
  });

  test.each(EXAMPLES)('is served, and refuses what is no token: $title', async (example) => {
    const url = await serve(example);
    const headers = { authorization: 'Bearer made-up' };
    expect(await send(url, { method: 'POST', headers })).toMatchObject({ status: 401 });
  });
});

describe('The table of answers in docs/bearer-tokens.md', () => {
  let token: string;
  let cookie: string;

  beforeAll(async () => {
    await world().serve();
    token = await world().machines.sign({ sub: 'robot' });
    cookie = `gatehouse-${new URL(world().jwt).port}=x`;
  });

  const bearer = (value: string): Headers => ({ authorization: `Bearer ${value}` });
  const get = (headers: Headers): Promise<Answer> => send(world().jwt, { headers });

  const REQUESTS: Readonly<Record<string, () => Promise<Answer>>> = {
    'without a token, also of a browser': () => get({}),
    'with a session cookie only': () => get({ cookie }),
    'with another scheme, such as `Basic`': () => get({ authorization: 'Basic YTpi' }),
    'with a token that is not valid here': () => get(bearer('made-up')),
    'with a session cookie and a token': () => get({ ...bearer(token), cookie }),
    'with several `Authorization` fields': () => get({ authorization: ['Bearer a', 'Bearer b'] }),
    'that the policy denies': async () => get(bearer(await world().machines.sign({ sub: 'x' }))),
    'while the provider cannot be asked': async () => {
      const { identityProvider } = world().users;
      await identityProvider.stop();
      const answer = await send(world().access, { headers: bearer('unknown') });
      await identityProvider.start();
      return answer;
    },
    'after too many bad tokens from the network': async () => {
      // Discovery of the provider is tried again after a moment.
      world().setClock(60_000);
      const call = (index: number) =>
        send(world().access, { headers: bearer(`bad-${String(index)}`) });
      for (let index = 0; index < 60; index += 1) await call(index);
      return call(60);
    },
  };

  const rows = [...text.matchAll(/^\| (.*?) +\| (4\d\d|503) +\| (.*?) +\| (.*?) +\|$/gm)].map(
    ([, request = '', status = '', challenge = '', error = '']) =>
      [request, status, challenge, error] as const,
  );

  test('has a row for every answer', () => {
    expect(rows.map(([request]) => request)).toEqual(Object.keys(REQUESTS));
  });

  test.each(rows)('%s', async (request, status, challenge, error) => {
    const answer = await REQUESTS[request]?.();
    expect(answer?.status).toBe(Number(status));
    expect(answer?.headers['www-authenticate'] ?? '').toBe(unquoted(challenge));
    expect(answer?.headers).not.toHaveProperty('location');
    const members = membersOf(answer ?? { body: '{}' });
    expect(members['request_id']).toBe(answer?.headers['x-request-id']);
    const reason = error === 'a reason of the policy' ? 'user-unauthorized' : unquoted(error);
    expect(members['error']).toBe(reason);
    const mayRetry = answer?.headers['retry-after'] !== undefined;
    expect(mayRetry).toBe(status === '429' || status === '503');
  });

  function unquoted(cell: string): string {
    return cell.replaceAll('`', '');
  }
});
