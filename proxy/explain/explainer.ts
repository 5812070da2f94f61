import { randomBytes } from 'node:crypto';

import type { Snapshot } from '../../shared/snapshot/snapshot.ts';
import { LineWriter } from '../../shared/telemetry/line-writer.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import type { CredentialKind } from '../authentication/caller.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { ServedConfiguration } from '../configuration/served-configuration.ts';
import { createStages, type DisposableStages } from '../create-stages.ts';
import { deriveAssertionKeys } from '../crypto/assertion-keys.ts';
import { asError } from '../errors/as-error.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Forwarded } from '../forwarding/forwarded.ts';
import { handleRequest, type Stages } from '../pipeline/handle-request.ts';
import { createMemoryStores } from '../store/memory/memory-stores.ts';
import { claimedAuthenticators, type GivenUser } from './claimed-authenticators.ts';
import { DescribedMessage, type DescribedRequest } from './described-message.ts';
import type { CheckedRequest, Explanation, MatchedRoute, RequestOutcome } from './explanation.ts';
import {
  isAllowed,
  type Recorded,
  type RecordedDecision,
  recordingStages,
} from './recording-stages.ts';
import { UnsentResponse } from './unsent-response.ts';
import { ProxyMetrics } from '../telemetry/metrics/proxy-metrics.ts';

const KEY_BYTES = 32;
const FIRST_SERVER_ERROR = 500;

/** Options of an `Explainer`. */
export interface ExplainerOptions {
  /** Allows http to providers on loopback. */
  readonly devAllowLoopback: boolean;
  /** `service` in the log: that of `gatehouse run`, or of a proxy in a cluster. */
  readonly service: 'gatehouse' | 'proxy';
}

/** A request to explain. */
export interface Question {
  readonly request: DescribedRequest;
  /** Its user. Absent: the request has a credential, or is anonymous. */
  readonly user?: GivenUser | undefined;
  /** When it is made, in milliseconds since the epoch. */
  readonly time: number;
}

/**
 * Explains what a gateway does with requests. It is a gateway itself, with an empty state, that sends
 * nothing to upstreams and whose endpoints do nothing: all the rest is the code that serves requests, so
 * that an explanation agrees with the gateway.
 */
export class Explainer implements Disposable {
  readonly #stages: DisposableStages;
  readonly #lines: LineWriter;
  #written = '';
  #time = 0;

  /** Rejects if the snapshot cannot be served. */
  static async open(snapshot: Snapshot, options: ExplainerOptions): Promise<Explainer> {
    const configuration = new ServedConfiguration(() => undefined);
    await configuration.apply(snapshot);
    return new Explainer(configuration, options);
  }

  private constructor(
    configuration: ServedConfiguration,
    { devAllowLoopback, service }: ExplainerOptions,
  ) {
    this.#lines = new LineWriter({ write: (text) => (this.#written += text) });
    const sealingKeys = [{ secret: randomBytes(KEY_BYTES) }] as const;
    const now = (): number => this.#time;
    this.#stages = createStages({
      devAllowLoopback,
      sealingKeys,
      defaultSigningKeys: deriveAssertionKeys(sealingKeys),
      stores: createMemoryStores(now),
      logger: createLogger(service, this.#lines),
      lines: this.#lines,
      now,
      configuration,
      forwarder: FORWARDS_NOTHING,
      metrics: new ProxyMetrics(),
    });
  }

  /** The configuration that decides. */
  get configuration(): Configuration {
    return this.#stages.configuration();
  }

  /** Explains one request. Calls must not overlap. */
  async explain({ request, user, time }: Question): Promise<Explanation> {
    this.#time = time;
    this.#written = '';
    const recorded: Recorded = {};
    const stages = recordingStages(this.#stagesFor(user), recorded);
    const response = new UnsentResponse(request.method);
    await handleRequest(new DescribedMessage(request), response, stages);
    const { authorization } = recorded;
    const matched = matchedRoute(recorded, this.configuration);
    return {
      outcome: outcomeOf(recorded, response),
      ...(matched && { matched }),
      ...(authorization && { checked: checkedRequest(authorization, matched) }),
      log: this.#log(),
    };
  }

  [Symbol.dispose](): void {
    this.#stages[Symbol.dispose]();
  }

  #stagesFor(user: GivenUser | undefined): Stages {
    if (user === undefined) return this.#stages;
    // The table has exactly the kinds of credentials.
    const kinds = Object.keys(this.#stages.authenticators) as CredentialKind[];
    const authenticators = claimedAuthenticators(kinds, user);
    return { ...this.#stages, authenticators };
  }

  #log(): Explanation['log'] {
    this.#lines.flush();
    const lines = this.#written.split('\n').filter((line) => line !== '');
    // The log is one JSON object a line.
    return lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  }
}

const NOTHING_SENT: Forwarded = {
  status: 200,
  bytes: 0,
  sentAt: 0,
  firstByteMs: 0,
  upstream: '',
  ended: 'complete',
};

const FORWARDS_NOTHING: Stages['forwarder'] = {
  forward: () => Promise.resolve(NOTHING_SENT),
  forwardUpgrade: () => Promise.resolve(NOTHING_SENT),
};

/** Throws an error that is a bug. */
function outcomeOf(recorded: Recorded, response: UnsentResponse): RequestOutcome {
  if (isAllowed(recorded)) return { kind: 'allow' };
  const { failure, isForEndpoint } = recorded;
  if (failure === undefined) {
    const { status } = response;
    const isKnown = isForEndpoint === undefined && status !== undefined;
    return { kind: 'answer', ...(isKnown && { status }) };
  }
  if (!(failure instanceof GatewayError)) throw asError(failure);
  const { reason, message } = failure;
  const { status = failure.status, challenge } = response;
  const kind = failure.status >= FIRST_SERVER_ERROR ? 'failure' : 'deny';
  return { kind, status, reason, message, ...(challenge !== undefined && { challenge }) };
}

function checkedRequest(
  { identity, decision, input }: RecordedDecision,
  matched: MatchedRoute | undefined,
): CheckedRequest {
  const policy = matched?.route.policy?.explain(input);
  return { identity, decision, ...(policy && { policy }) };
}

function matchedRoute({ access }: Recorded, { routes }: Configuration): MatchedRoute | undefined {
  const host = access?.request && routes.findHost(access.request.authority);
  const route = host?.routes.find(({ compiled }) => compiled.name === access?.route?.compiled.name);
  return host && route && { host, route };
}
