import { describe, expect, test } from '@jest/globals';

import { describeRequest } from '../../../cli/explain/describe-request.ts';
import { reportOf, type ExplainReport } from '../../../cli/explain/report.ts';
import { Explainer } from '../../../proxy/explain/explainer.ts';
import { startBearerWorld } from '../../support/bearer-world.ts';
import { runGatehouse } from '../../support/cli.ts';
import { runInProcess } from '../../support/command-line.ts';
import { compileManifests } from '../../support/gateway.ts';
import { send, type Answer } from '../../support/http-client.ts';
import { openForAll } from '../../support/open-for-all.ts';
import { obtainTokens } from '../../support/provider-tokens.ts';
import { TemporaryDirectory } from '../../support/temporary-directory.ts';

const HOUR = 3600;

/** Opened once, because a cache of refused tokens would hide how the next one is judged. */
const world = openForAll(startBearerWorld);

type Host = 'jwt' | 'mcp' | 'access' | 'people' | 'open';

interface Judged {
  readonly report: ExplainReport;
  readonly answer: Answer;
  /** Of the authorization log and of refusals. */
  readonly records: readonly unknown[];
}

/** Sends a request with a token to the gateway, and has it explained. */
async function judge(host: Host, token: string, cookie?: string): Promise<Judged> {
  const { users } = world();
  const { gateway } = users;
  const snapshot = compileManifests(users.manifests());
  using explainer = await Explainer.open(snapshot, {
    devAllowLoopback: true,
    service: 'proxy',
  });
  const { configuration } = explainer;
  const described = {
    url: `${world()[host]}/`,
    ...(cookie !== undefined && { headers: { cookie } }),
  };
  const request = describeRequest(described, { snapshot, configuration }, { kind: 'token', token });
  const time = Date.now();
  const report = reportOf(await explainer.explain({ request, time }), request, time);
  const logged = gateway.logs().length;
  const { method, fields, body } = request;
  const headers: Record<string, string> = {};
  for (let index = 0; index < fields.length; index += 2) {
    headers[fields[index] ?? ''] = fields[index + 1] ?? '';
  }
  const answer = await send(described.url, { method, headers, ...(body && { body }) });
  return { report, answer, records: gateway.logs().slice(logged) };
}

/** A record without what differs in every request. */
function plain(record: unknown): unknown {
  return { ...Object(record), time: 'some', 'request-id': 'some' };
}

describe('an explanation agrees with the gateway on', () => {
  test.each<{ title: string; host: Host; token: () => string | Promise<string> }>([
    { title: 'a valid JWT', host: 'jwt', token: () => world().machines.sign({ sub: 'robot' }) },
    {
      title: 'a JWT of a user whom the policy denies',
      host: 'jwt',
      token: () => world().machines.sign({ sub: 'other' }),
    },
    {
      title: 'a JWT on an MCP route',
      host: 'mcp',
      token: () => world().machines.sign({ sub: 'robot' }),
    },
    {
      title: 'an expired JWT',
      host: 'jwt',
      token: () =>
        world().machines.sign({ sub: 'robot', exp: Math.floor(Date.now() / 1000) - HOUR }),
    },
    {
      title: 'a JWT for another audience',
      host: 'mcp',
      token: () => world().machines.sign({ sub: 'robot', aud: 'other' }),
    },
    {
      title: 'a JWT of an unknown issuer',
      host: 'jwt',
      token: () => world().machines.sign({ sub: 'robot', iss: 'https://elsewhere.example' }),
    },
    { title: 'what is no JWT', host: 'jwt', token: () => 'opaque' },
    { title: 'a token of a form that no token has', host: 'mcp', token: () => 'a"b' },
    { title: 'an unknown access token', host: 'access', token: () => 'opaque' },
    {
      title: 'an access token',
      host: 'access',
      token: async () => {
        await world().signIn('alice');
        return world().accessToken();
      },
    },
    { title: 'a token on a route for people', host: 'people', token: () => 'opaque' },
    { title: 'a token on a public route', host: 'open', token: () => 'opaque' },
  ])('$title', async ({ host, token }) => {
    const { report, answer, records } = await judge(host, await token());

    expect(report.decision).toBe(answer.status === 200 ? 'allow' : 'deny');
    expect(report.answer?.status ?? 200).toBe(answer.status);
    expect(report.answer?.challenge).toBe(answer.headers['www-authenticate']);
    expect(report.log.map(plain)).toEqual(records.map(plain));
  });
});

test('an explanation agrees with the gateway on a token beside a session cookie', async () => {
  const token = await world().machines.sign({ sub: 'robot' });
  const cookie = `gatehouse-${new URL(world().jwt).port}=any`;
  const { report, answer } = await judge('jwt', token, cookie);

  expect(answer.status).toBe(400);
  expect(report).toMatchObject({
    decision: 'deny',
    reasons: ['cookie-and-bearer-token'],
    answer: { status: 400 },
  });
});

describe('gatehouse explain with a token', () => {
  const flags = async (directory: TemporaryDirectory): Promise<readonly string[]> => [
    ...['explain', '-f', await directory.write('a.yaml', world().users.manifests())],
    ...['--dev-allow-loopback', '--route', 'default/jwt'],
  ];

  test('reads it from the standard input, and never prints it', async () => {
    await using directory = await TemporaryDirectory.create();
    const token = await world().machines.sign({ sub: 'robot' });
    const argv = [...(await flags(directory)), '--token-file', '-'];
    const { code, stdout, stderr } = await runGatehouse(argv, {}, `${token}\n`);

    expect(stderr).toBe('');
    expect(stdout).toMatch(/^allow: user-ok\n/);
    expect(stdout).toContain('user     robot of machines, groups: none\n');
    expect(stdout).not.toContain(token.slice(-20));
    expect(code).toBe(0);
  });

  test('shows why it is refused, and the challenge', async () => {
    await using directory = await TemporaryDirectory.create();
    const token = await world().machines.sign({ sub: 'robot', aud: 'other' });
    const argv = [...(await flags(directory)), '--token-file'];
    const { code, stdout } = await runInProcess([...argv, await directory.write('token', token)]);

    expect(stdout).toMatch(/^deny: wrong-audience \(status 401, .*\)\nWWW-Authenticate: Bearer /);
    expect(stdout).toContain('error="invalid_token"');
    expect(stdout).not.toContain(token.slice(-20));
    expect(code).toBe(3);
  });

  test('judges it at the given time', async () => {
    await using directory = await TemporaryDirectory.create();
    const token = await world().machines.sign({ sub: 'robot' });
    const later = new Date(Date.now() + HOUR * 1000).toISOString();
    const argv = [...(await flags(directory)), '--token', token, '--time', later];

    expect((await runInProcess(argv)).stdout).toMatch(/^deny: token-expired /);
  });

  test('says that the groups of its user are unknown', async () => {
    await using directory = await TemporaryDirectory.create();
    const wanted = { resource: 'https://jwt.gateway.example', scope: 'read' };
    const { accessToken } = await obtainTokens(world().users.identityProvider, wanted);
    const argv = [...(await flags(directory)), '--route', 'default/access', '--token', accessToken];
    const report = await runInProcess([...argv, '--output', 'json']);

    expect((await runInProcess(argv)).stdout).toMatch(
      /^user {5}alice of test, .*groups: unknown$/m,
    );
    expect(JSON.parse(report.stdout)).toMatchObject({ user: { groupsAreUnknown: true } });
  });

  test('exits with 1 if the provider cannot be asked', async () => {
    await using directory = await TemporaryDirectory.create();
    const token = await world().machines.sign({ sub: 'robot' });
    const argv = [...(await flags(directory)), '--token', token];
    await world().machines.stop();
    const { code, stdout } = await runInProcess(argv);
    await world().machines.start();

    expect(stdout).toMatch(/^failure: .* \(status 503, /);
    expect(code).toBe(1);
  });

  test('takes a user in its place, of the provider that iss names', async () => {
    await using directory = await TemporaryDirectory.create();
    const argv = [...(await flags(directory)), '--user', 'robot'];
    const { issuer } = world().machines;

    expect(await runInProcess(argv)).toMatchObject({ code: 0 });
    expect(await runInProcess([...argv, '--claim', `iss=${issuer}`])).toMatchObject({ code: 0 });
    const { code, stdout } = await runInProcess([...argv, '--claim', 'iss=https://b.example']);
    expect(stdout).toMatch(/^deny: unknown-issuer \(status 401, /);
    expect(code).toBe(3);
  });
});
