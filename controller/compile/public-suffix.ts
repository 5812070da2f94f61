import { parse } from 'tldts';

/**
 * Whether anybody may register names directly under a domain, as under `com`, `co.uk` and `github.io`.
 *
 * Both sections of the Public Suffix List count. A domain that is not in the list, such as `internal`,
 * is not one.
 */
export function isPublicSuffix(domain: string): boolean {
  // The rule `*.ck` of the list is about the names under `ck`, and so about `ck` too.
  return isListed(domain) || isListed(`x.${domain}`);
}

function isListed(suffix: string): boolean {
  const { publicSuffix, isIcann, isPrivate } = parse(suffix, { allowPrivateDomains: true });
  return publicSuffix === suffix && (isIcann === true || isPrivate === true);
}
