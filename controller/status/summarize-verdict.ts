import type { RouteVerdict, SettingsVerdict } from '../compile/compilation.ts';
import { generationOf } from '../compile/generation.ts';
import type { VerdictSummary } from './verdict-states.ts';

/** Returns the part of a verdict that conditions are built from. */
export function summarizeVerdict(verdict: RouteVerdict | SettingsVerdict): VerdictSummary {
  return {
    generation: generationOf(verdict.resource),
    isAccepted: verdict.isAccepted,
    problems: verdict.problems,
    served: verdict.served,
    isConsentExposed: 'isConsentExposed' in verdict,
    uninspectedPaths: 'uninspectedPaths' in verdict ? (verdict.uninspectedPaths ?? []) : [],
  };
}
