import type { RouteVerdict, SettingsVerdict } from '../compile/compilation.ts';
import type { VerdictSummary } from './verdict-states.ts';

/** The part of a verdict that conditions are built from. */
export function summarizeVerdict(verdict: RouteVerdict | SettingsVerdict): VerdictSummary {
  return {
    generation: verdict.resource.metadata.generation ?? 0,
    isAccepted: verdict.isAccepted,
    problems: verdict.problems,
    served: verdict.served,
  };
}
