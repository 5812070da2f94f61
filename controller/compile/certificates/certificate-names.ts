import type { X509Certificate } from 'node:crypto';

/** A name that clients compare with their host; a wildcard has a whole label. */
const DNS_NAME = /^(?:\*\.)?[a-z0-9_](?:[-a-z0-9_.]*[a-z0-9])?$/;
const DNS = 'DNS:';
const ADDRESS = 'IP Address:';

/**
 * Returns the names and addresses that a certificate is for, in the form of the host of a route. The common name
 * of the subject does not count: no current client looks at it.
 */
export function certificateNames({ subjectAltName = '' }: X509Certificate): readonly string[] {
  const names = subjectAltName.split(', ').flatMap((entry) => nameOf(entry) ?? []);
  return [...new Set(names)];
}

/** Entries that Node quotes have unusual characters, and are no names of hosts. */
function nameOf(entry: string): string | undefined {
  if (entry.startsWith(ADDRESS)) return addressOf(entry.slice(ADDRESS.length));
  if (!entry.startsWith(DNS)) return undefined;
  const name = entry.slice(DNS.length).toLowerCase();
  return DNS_NAME.test(name) ? name : undefined;
}

/** IPv6 is written as in a URL. Of a wrong length, it is words of Node. */
function addressOf(address: string): string | undefined {
  if (!/^[.\d]+$|^[:\dA-F]+$/i.test(address)) return undefined;
  return address.includes(':') ? new URL(`http://[${address}]`).hostname : address;
}
