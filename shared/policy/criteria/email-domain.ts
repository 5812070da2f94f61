/** Returns the domain of an e-mail address, after the last `@`; undefined without an `@`. */
export function emailDomain(email: string): string | undefined {
  const at = email.lastIndexOf('@');
  return at === -1 ? undefined : email.slice(at + 1);
}
