import type { Span } from '../../../shared/telemetry/tracing/trace.ts';
import { isPermitted } from '../../policy/build-policy-evaluator.ts';
import type { Decision } from '../../policy/decision.ts';

/** Makes a decision in a child span, and describes it on the span of the request. */
export function decisionInSpan(request: Span, decide: () => Decision): Decision {
  const span = request.child('policy', 'internal');
  const decision = decide();
  span.end();
  const { allow, allowReasons, deny, denyReasons } = decision;
  request.add('gatehouse.decision', isPermitted(decision) ? 'allow' : 'deny');
  request.add('gatehouse.decision.reasons', allow && deny ? denyReasons : allowReasons);
  return decision;
}
