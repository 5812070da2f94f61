/** The domain of an e-mail address: what follows the last `@`. Undefined without one. */
export function emailDomain(email: string): string | undefined {
  const at = email.lastIndexOf('@');
  return at === -1 ? undefined : email.slice(at + 1);
}
