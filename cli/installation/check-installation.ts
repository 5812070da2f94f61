import type { KubernetesApi } from '../../controller/kubernetes/kubernetes-api.ts';
import { parseStoredRoute, parseStoredSettings } from '../../controller/kubernetes/parse-stored.ts';
import { GATEWAY_SETTINGS, ROUTES } from '../../controller/kubernetes/resource-types.ts';
import type { StoredRoute } from '../../controller/kubernetes/stored-resources.ts';
import { memberOf } from '../../controller/kubernetes/member-of.ts';
import { pause, type Clock } from '../../shared/runtime/clock.ts';
import { describeError } from '../../shared/telemetry/describe-error.ts';
import { unmetCause } from '../cluster/condition-cause.ts';
import { CommandFailure } from '../command-failure.ts';
import { askGateway, type GatewayAnswer, type GatewayQuestion } from './ask-gateway.ts';

const RETRY_MS = 1000;
const UNKNOWN_HOST = 'nobody.invalid';
const METADATA_PATH = '/.well-known/oauth-protected-resource';

/** What to check, and with what. */
export interface Installation {
  readonly api: Pick<KubernetesApi, 'get'>;
  readonly clock: Clock;
  readonly url: URL;
  readonly tlsUrl: URL | undefined;
  readonly settings: { readonly namespace: string; readonly name: string };
  readonly route: { readonly namespace: string; readonly name: string } | undefined;
  readonly timeoutMs: number;
  /** Receives each thing that was found right, or could not be checked. */
  readonly report: (line: string) => void;
}

/** Checks an installed gateway. Throws `CommandFailure` with what is wrong once the time is over. */
export async function checkInstallation(installation: Installation): Promise<void> {
  const { settings, url, route, report } = installation;
  await eventually(installation, () => checkSettings(installation));
  report(`GatewaySettings ${settings.namespace}/${settings.name}: every proxy serves them`);
  await eventually(installation, () => checkUnknownHost(url));
  report(`${url.origin}: a proxy answers`);
  if (route === undefined) return;
  const host = await eventually(installation, () => findServedHost(installation, route));
  if (host === undefined) {
    report('no identity provider: nobody can sign in, so no challenge was looked at');
    return;
  }
  report(await eventually(installation, () => checkChallenge(installation, host)));
}

/** Tries again until the time is over: what was just installed may not be there yet. */
async function eventually<T>(
  { clock, timeoutMs }: Pick<Installation, 'clock' | 'timeoutMs'>,
  check: () => Promise<T>,
): Promise<T> {
  const end = clock.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (clock.now() < end) await pause(clock, RETRY_MS);
      else if (error instanceof CommandFailure) throw error;
      else throw new CommandFailure(describeError(error), { cause: error });
    }
  }
}

async function checkSettings({
  api,
  settings: place,
}: Pick<Installation, 'api' | 'settings'>): Promise<void> {
  const what = `GatewaySettings ${place.namespace}/${place.name}`;
  const { metadata, status } = parseStoredSettings(await api.get(GATEWAY_SETTINGS, place));
  const conditions = status?.conditions ?? [];
  if (conditions.length === 0) {
    throw new CommandFailure(`${what}: no controller has written their status`);
  }
  const cause = unmetCause(conditions);
  if (cause !== undefined) throw new CommandFailure(`${what}: ${cause.reason}: ${cause.message}`);
  if (status?.observedGeneration !== metadata.generation) {
    throw new CommandFailure(`${what}: the status is not of the newest generation`);
  }
  if ((status?.proxies?.ready ?? 0) > 0) return;
  throw new CommandFailure(`${what}: no proxy is ready`);
}

async function checkUnknownHost(url: URL): Promise<void> {
  const { status } = await askGateway({ url, method: 'GET', host: UNKNOWN_HOST, path: '/' });
  if (status === 421) return;
  throw new CommandFailure(
    `${url.origin}: status ${String(status)} for a host without a route, and not 421: somebody else answers`,
  );
}

/** Resolves with the host of a Route that is served; undefined if nobody could sign in there. */
async function findServedHost(
  { api }: Pick<Installation, 'api'>,
  place: { readonly namespace: string; readonly name: string },
): Promise<string | undefined> {
  const what = `Route ${place.namespace}/${place.name}`;
  const route = parseStoredRoute(await api.get(ROUTES, place));
  const conditions = route.status?.conditions ?? [];
  const cause = unmetCause(conditions);
  if (cause?.reason === 'IdentityProviderNotFound') return undefined;
  if (cause !== undefined) throw new CommandFailure(`${what}: ${cause.reason}: ${cause.message}`);
  if (conditions.length === 0) {
    throw new CommandFailure(`${what}: no controller has written its status`);
  }
  return hostOf(route);
}

function hostOf({ spec }: StoredRoute): string {
  const from = memberOf(spec, 'from');
  return new URL(typeof from === 'string' ? from : '').host;
}

/** Resolves with what was found. */
async function checkChallenge(installation: Installation, host: string): Promise<string> {
  const challenge = await ask(installation, { method: 'POST', host, path: '/' });
  if (challenge === 'no-certificate') {
    return `https://${host}: no certificate covers it, so no challenge was looked at`;
  }
  const header = String(challenge.headers['www-authenticate'] ?? '');
  const wanted = `resource_metadata="https://${host}${METADATA_PATH}"`;
  if (challenge.status !== 401 || !header.includes(wanted)) {
    throw new CommandFailure(
      `https://${host}: status ${String(challenge.status)} without a token, and not a challenge with ${wanted}`,
    );
  }
  const metadata = await ask(installation, { method: 'GET', host, path: METADATA_PATH });
  if (metadata === 'no-certificate' || !isMetadataOf(metadata, host)) {
    throw new CommandFailure(`https://${host}${METADATA_PATH} is no metadata of this host`);
  }
  return `https://${host}: a client without a token gets the challenge, and finds the metadata`;
}

function isMetadataOf({ status, body }: GatewayAnswer, host: string): boolean {
  if (status !== 200) return false;
  const resource = memberOf(JSON.parse(body), 'resource');
  return typeof resource === 'string' && new URL(resource).host === host;
}

/** Asks over plain HTTP, and over TLS if the gateway redirects there. */
async function ask(
  { url, tlsUrl }: Pick<Installation, 'url' | 'tlsUrl'>,
  question: Omit<GatewayQuestion, 'url'>,
): Promise<GatewayAnswer | 'no-certificate'> {
  const answer = await askGateway({ url, ...question });
  if (answer.status !== 308 || tlsUrl === undefined) return answer;
  try {
    const secured = await askGateway({ url: tlsUrl, ...question });
    // The default certificate is for other hosts.
    return secured.status === 421 ? 'no-certificate' : secured;
  } catch (error) {
    // The gateway has certificates for other hosts, and none by default.
    if (error instanceof Error && /alert|ERR_SSL/i.test(error.message)) return 'no-certificate';
    throw error;
  }
}
