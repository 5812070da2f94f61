import type { PolicyInput } from '../../shared/policy/language/policy-input.ts';
import { identityOf } from '../authentication/caller.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Stages } from '../pipeline/handle-request.ts';
import { isPermitted } from '../policy/build-policy-evaluator.ts';
import type { Decision } from '../policy/decision.ts';
import type { Identity } from '../records/session.ts';
import type { AccessRecord } from '../telemetry/access-log.ts';

/** A decision, and what it was made from. */
export interface RecordedDecision {
  readonly identity: Identity | undefined;
  readonly decision: Decision;
  readonly input: PolicyInput;
}

/** What the stages did with one request. */
export interface Recorded {
  access?: AccessRecord;
  authorization?: RecordedDecision;
  failure?: unknown;
  /** The request was for an endpoint of the gateway. */
  isForEndpoint?: true;
}

/** Returns whether the request was permitted. What fails after that is not explained. */
export function isAllowed({ authorization }: Recorded): boolean {
  return authorization !== undefined && isPermitted(authorization.decision);
}

/**
 * Makes stages that do the same, and record it, but send nothing to upstreams. Endpoints of the gateway
 * are found and not asked: they would change state, or talk to identity providers.
 */
export function recordingStages(stages: Stages, recorded: Recorded): Stages {
  return {
    ...stages,
    findEndpoint(host, path) {
      const endpoint = stages.findEndpoint(host, path);
      if (endpoint === undefined) return undefined;
      recorded.isForEndpoint = true;
      return withoutEffect(endpoint);
    },
    authorizationLog: {
      write(checked, decision, fields, input) {
        recorded.authorization = { identity: identityOf(checked.caller), decision, input };
        stages.authorizationLog.write(checked, decision, fields, input);
      },
    },
    metrics: { count: () => undefined },
    accessLog: {
      write: (record) => void (recorded.access = record),
      writeRefused: () => undefined,
    },
    answerFailure(error, known) {
      recorded.failure = error;
      return isAllowed(recorded) ? undefined : stages.answerFailure(error, known);
    },
  };
}

const OK = { status: 200, headers: {}, body: '' };

function withoutEffect(endpoint: Endpoint): Endpoint {
  return { ...endpoint, handle: () => Promise.resolve(OK) };
}
