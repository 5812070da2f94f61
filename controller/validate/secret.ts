/** A core/v1 Secret, decoded. */
export interface Secret {
  readonly kind: 'Secret';
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly values: ReadonlyMap<string, Buffer>;
}
