/** Whether a host is this machine: `localhost`, a name under it, 127.0.0.0/8 or `[::1]`. */
export function isLoopbackHost(hostname: string): boolean {
  const name = hostname.toLowerCase();
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  return name === '[::1]' || name === '::1' || /^127(?:\.\d{1,3}){3}$/.test(name);
}
