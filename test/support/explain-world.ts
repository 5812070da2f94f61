import type { Route } from '../../crds/types.ts';
import { describeRequest } from '../../cli/explain/describe-request.ts';
import { describeUser } from '../../cli/explain/describe-user.ts';
import { reportOf, type ExplainReport } from '../../cli/explain/report.ts';
import type { RequestDescription } from '../../cli/explain/request-description.ts';
import { Explainer } from '../../proxy/explain/explainer.ts';
import type { DescribedRequest } from '../../proxy/explain/described-message.ts';
import type { LogRecord } from './authorization-log-world.ts';
import { BrowserJar } from './browser-jar.ts';
import { compileManifests } from './gateway.ts';
import { manifestsWithUsers, startGatewayWithUsers } from './gateway-with-users.ts';
import { send, type Answer } from './http-client.ts';
import { signInClient } from './signed-in-client.ts';
import { startUpstream } from './upstream.ts';
import { sessionCookieAt } from './web-routes-world.ts';

type Policy = NonNullable<Route['spec']['policy']>;

/** The users who can make requests. */
const LOGINS = ['alice', 'carol'] as const;

/** A user, or nobody. */
export type Login = (typeof LOGINS)[number] | undefined;

/** What the gateway did with a request, and what an explanation says that it does. */
export interface Both {
  readonly report: ExplainReport;
  readonly answer: Answer;
  readonly hasReachedUpstream: boolean;
  /** Records of the authorization log. */
  readonly records: readonly LogRecord[];
}

/** A gateway with routes whose policies a test sets, and explanations of the same configuration. */
export interface ExplainWorld extends AsyncDisposable {
  /** An MCP route of every path, with a path that is not inspected. */
  readonly mcp: string;
  /** Web routes: `/app`, all other paths, and `/open` for everybody. */
  readonly web: string;
  /** Serves these policies from now on. */
  serve(policies: { readonly mcp: Policy; readonly web: Policy }): Promise<void>;
  /** Sends a request to the gateway, and has it explained. */
  ask(described: RequestDescription, login: Login): Promise<Both>;
}

/** Starts the gateway, and signs clients and browsers of the users in. */
export async function startExplainWorld(): Promise<ExplainWorld> {
  const upstream = await startUpstream((message, response) => {
    message.resume();
    response.end('{}');
  });
  const users = await startGatewayWithUsers();
  const { gateway, identityProvider } = users;
  const [mcp, web] = [users.originOf('mcp'), users.originOf('web')];
  const explainers: Explainer[] = [];
  const serve: ExplainWorld['serve'] = async (policies) => {
    const to = upstream.origin;
    const subPaths = [{ path: '/files', inspected: false }];
    const routes: Record<string, Route['spec']> = {
      mcp: { from: mcp, to, prefix: '/mcp', mcp: { server: { subPaths } }, policy: policies.mcp },
      web: { from: web, to, policy: policies.web },
      app: { from: web, prefix: '/app', to, policy: policies.web },
      open: { from: web, path: '/open', to, allowPublicUnauthenticatedAccess: true },
    };
    const settings = { authorizeLogFields: LOG_FIELDS, trustedProxies: ['127.0.0.0/8'] };
    await users.configure(routes, settings);
    const snapshot = compileManifests(manifestsWithUsers(routes, settings, identityProvider));
    explainers.push(await Explainer.open(snapshot, { devAllowLoopback: true, service: 'proxy' }));
    current = { snapshot, explainer: explainers.at(-1) };
  };
  let current: { snapshot: ReturnType<typeof compileManifests>; explainer: Explainer | undefined };
  await serve({ mcp: EVERYBODY, web: EVERYBODY });
  const credentials = new Map<Login, Readonly<Record<string, Record<string, string>>>>();
  for (const login of LOGINS) {
    const browser = new BrowserJar();
    const page = await browser.open(web);
    await browser.submit(page, { login });
    const { accessToken } = await signInClient(`${mcp}/mcp`, { login });
    credentials.set(login, {
      [mcp]: { authorization: `Bearer ${accessToken}` },
      [web]: { cookie: sessionCookieAt(browser, web) },
    });
  }
  return {
    ...{ mcp, web, serve },
    async ask(described, login) {
      const { snapshot, explainer } = current;
      if (explainer === undefined) throw new Error('nothing is served');
      const { configuration } = explainer;
      const credential = { kind: login === undefined ? ('none' as const) : ('given' as const) };
      const request = describeRequest(described, { snapshot, configuration }, credential);
      const claims = login && identityProvider.users.get(login);
      const user = login && describeUser({ user: login, ...(claims && { claims }) });
      const time = Date.now();
      const explanation = await explainer.explain({ request, user, time });
      const [arrived, logged] = [upstream.requests.length, gateway.decisions().length];
      const origin = `http://${request.fields[1] ?? ''}`;
      const answer = await sendAs(request, credentials.get(login)?.[origin] ?? {});
      return {
        report: reportOf(explanation, request, time),
        answer,
        hasReachedUpstream: upstream.requests.length > arrived,
        records: gateway.decisions().slice(logged),
      };
    },
    async [Symbol.asyncDispose]() {
      for (const explainer of explainers) explainer[Symbol.dispose]();
      await users[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

const EVERYBODY: Policy = { allow: { and: [{ accept: true }] } };

const LOG_FIELDS = [
  ...(['mcp-method', 'mcp-tool', 'mcp-tool-parameters', 'request-id', 'user', 'email'] as const),
  ...(['allow', 'allow-why-true', 'allow-why-false'] as const),
  ...(['deny', 'deny-why-true', 'deny-why-false'] as const),
];

function sendAs(
  { method, target, fields, body }: DescribedRequest,
  credential: Readonly<Record<string, string>>,
): Promise<Answer> {
  const described: Record<string, string> = {};
  for (let index = 0; index < fields.length; index += 2) {
    described[(fields[index] ?? '').toLowerCase()] = fields[index + 1] ?? '';
  }
  // The real credential takes the place of the described one.
  const headers = { ...described, ...credential };
  const url = `http://${fields[1] ?? ''}${target}`;
  return send(url, { method, headers, ...(body !== undefined && { body }) });
}
