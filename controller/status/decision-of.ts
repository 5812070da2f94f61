import type { RouteVerdict, SettingsVerdict } from '../compile/compilation.ts';
import type { Decision } from './verdict-claims.ts';

/** What conditions are made of, in a verdict on either kind of resource. */
export function decisionOf(verdict: RouteVerdict | SettingsVerdict): Decision {
  return {
    generation: verdict.resource.metadata.generation ?? 0,
    isAccepted: verdict.isAccepted,
    problems: verdict.problems,
    served: verdict.served,
  };
}
