import type { AuthorizationServer } from 'oauth4webapi';

import { type MissingSetting, UpstreamAuthError } from '../../proxy/errors/upstream-auth-error.ts';
import type { GuardedFetch } from '../../proxy/outbound/guarded-fetch.ts';
import { UpstreamCalls } from '../../proxy/upstream-oauth/calls/upstream-calls.ts';
import { AuthorizationServers } from '../../proxy/upstream-oauth/discovery/authorization-servers.ts';
import { selectScopes } from '../../proxy/upstream-oauth/discovery/scopes.ts';
import { UpstreamDiscovery } from '../../proxy/upstream-oauth/discovery/upstream-discovery.ts';
import { CallRecorder, type RecordedCall } from './call-recorder.ts';
import { checkMetadataDocument, checkTokenEndpoint } from './check-server.ts';
import type { Patient } from './patient.ts';
import { type ClientPlan, planClient } from './plan-client.ts';

/** What an examination found. */
export interface Findings {
  /** All requests, in their order. */
  readonly calls: readonly RecordedCall[];
  /** Entries that the settings lack. The examination went on as if they were there. */
  readonly missingDomains: readonly string[];
  readonly found?: FoundAuthorization;
  /** Absent if connecting could succeed. */
  readonly failure?: Failure;
}

/** Why connecting fails. */
export interface Failure {
  readonly reason: string;
  readonly message: string;
  /** What was being done; absent if it shows in no single request. */
  readonly step?: string;
  readonly missing?: MissingSetting | undefined;
}

/** Everything that connecting needs. */
export interface FoundAuthorization {
  readonly server: AuthorizationServer;
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly client: ClientPlan;
}

/** How an examination reaches servers. */
export interface ExaminationOptions {
  readonly guardedFetch: GuardedFetch;
  readonly devAllowLoopback: boolean;
  readonly now: () => number;
}

const UNAUTHORIZED = 401;

/** More domains than any upstream needs. */
const MAX_MISSING = 10;

/**
 * Walks discovery for a patient with the code of the gateway. If the settings lack a domain, it is noted, and
 * discovery starts again as if it were there, so that one examination names all of them. Nothing is registered.
 */
export async function examine(patient: Patient, options: ExaminationOptions): Promise<Findings> {
  const missingDomains: string[] = [];
  for (;;) {
    const findings = await examineOnce(patient, missingDomains, options);
    const { reason, missing } = findings.failure ?? {};
    const entry = missing?.entry;
    const isDomain = reason === 'upstream-auth-domain-not-allowed' && entry !== undefined;
    if (!isDomain || missingDomains.length >= MAX_MISSING) {
      return { ...findings, missingDomains, ...failureOf(patient, missingDomains, findings) };
    }
    missingDomains.push(entry);
  }
}

/** Without a Route, a missing entry is no failure: it is what the examination was made for. */
function failureOf(
  { kind, context }: Patient,
  missingDomains: readonly string[],
  { failure }: Pick<Findings, 'failure'>,
): Pick<Findings, 'failure'> {
  if (failure !== undefined) return { failure };
  const [entry] = missingDomains;
  const isWithoutSettings = kind === 'upstream' && context.allowedDomains?.length === 0;
  if (entry === undefined || isWithoutSettings) return {};
  const message = `mcpAllowedAsMetadataDomains does not list ${missingDomains.join(', ')}`;
  return { failure: { reason: 'upstream-auth-domain-not-allowed', message } };
}

async function examineOnce(
  patient: Patient,
  furtherDomains: readonly string[],
  { guardedFetch, devAllowLoopback, now }: ExaminationOptions,
): Promise<Omit<Findings, 'missingDomains'>> {
  const { kind, upstream, origin } = patient;
  const { allowedDomains } = patient.context;
  const context = {
    ...patient.context,
    ...(allowedDomains && { allowedDomains: [...allowedDomains, ...furtherDomains] }),
  };
  const recorder = new CallRecorder();
  const calls = new UpstreamCalls({ ...recorder.record(guardedFetch), now });
  const servers = new AuthorizationServers({ calls, devAllowLoopback, now });
  const discovery = new UpstreamDiscovery({ calls, servers });
  try {
    const discovered = await discovery.discover(upstream, undefined, context);
    if (kind === 'own-route') checkChallenge(upstream.url, recorder.calls);
    const { server, resource } = discovered;
    const client = planClient(server, patient);
    if (client.kind === 'metadata-document' && origin !== undefined) {
      await checkMetadataDocument(client.value, calls, context);
    }
    await checkTokenEndpoint(server, calls, context);
    const sources = { ...discovered, configured: upstream.oauth.scopes, more: [] };
    const found = { server, resource, client, scopes: selectScopes(sources, server) };
    return { calls: recorder.calls, found };
  } catch (error) {
    if (!(error instanceof UpstreamAuthError)) throw error;
    const { reason, message, step, missing } = error;
    return { calls: recorder.calls, failure: { reason, message, step, missing } };
  }
}

/** MCP clients begin with the 401 of the route. */
function checkChallenge(url: string, calls: readonly RecordedCall[]): void {
  const challenge = calls.find(({ step }) => step === 'challenge');
  if (challenge?.status === UNAUTHORIZED) return;
  const message = `${url} does not ask for a token: it is no MCP route, or not served yet`;
  throw new UpstreamAuthError('upstream-auth-not-found', message, { step: 'challenge' });
}
