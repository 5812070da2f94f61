import { setTimeout as wait } from 'node:timers/promises';

import type { CollectorBehavior } from './collector-behavior.ts';

/** Fields of an ExportTraceServiceResponse. */
export interface ExportResponse {
  readonly partialSuccess?: { readonly rejectedSpans: number; readonly errorMessage: string };
}

/** What an exporter gets: a response, or an error that it may or may not answer with another attempt. */
export type ExportAnswer =
  | { readonly response: ExportResponse }
  | { readonly error: string; readonly kind: 'unavailable' | 'denied' | 'invalid' };

/** Decides what an exporter gets; undefined if it gets nothing. Resolves when it is time. */
export async function answerExport(behavior: CollectorBehavior): Promise<ExportAnswer | undefined> {
  switch (behavior.kind) {
    case 'accept':
      return { response: {} };
    case 'hang':
      return undefined;
    case 'slow':
      await wait(behavior.milliseconds, undefined, { ref: false });
      return { response: {} };
    case 'refuse':
      return behavior.mayRetry
        ? { error: 'unavailable, as the test wants it', kind: 'unavailable' }
        : { error: 'denied, as the test wants it', kind: 'denied' };
    case 'partial': {
      const { rejectedSpans, message: errorMessage } = behavior;
      return { response: { partialSuccess: { rejectedSpans, errorMessage } } };
    }
  }
}

/** Whether a collector that behaves like this keeps the spans that it receives. */
export function keepsSpans({ kind }: CollectorBehavior): boolean {
  return kind === 'accept' || kind === 'slow' || kind === 'partial';
}
