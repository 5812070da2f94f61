/**
 * Returns the address of the REST API of a GitHub host: `api.` before `github.com` and before the hosts of
 * `ghe.com` (GitHub Enterprise Cloud), and a path of any other host (GitHub Enterprise Server).
 */
export function githubApiUrl(origin: string): string {
  const { protocol, host, hostname } = new URL(origin);
  const isCloud = hostname === 'github.com' || hostname.endsWith('.ghe.com');
  return isCloud ? `${protocol}//api.${host}` : `${origin}/api/v3`;
}
