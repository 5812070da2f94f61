/** What a collector does with a request that the definitions allow. */
export type CollectorBehavior =
  | { readonly kind: 'accept' }
  /** It reads the request and never answers. */
  | { readonly kind: 'hang' }
  /** It accepts the spans, and answers later. */
  | { readonly kind: 'slow'; readonly milliseconds: number }
  /** It answers with an error: one after which exporters try again, or one after which they do not. */
  | { readonly kind: 'refuse'; readonly mayRetry: boolean }
  /** It accepts the request, and says that it rejected some of the spans. */
  | { readonly kind: 'partial'; readonly rejectedSpans: number; readonly message: string };
