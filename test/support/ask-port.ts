/** Returns the body that a port answers with, its status if that is not 200, or `refused` if nothing listens. */
export async function askPort(port: number): Promise<string> {
  try {
    const response = await fetch(`http://localhost:${String(port)}/`);
    const body = await response.text();
    return response.ok ? body : `status ${String(response.status)}`;
  } catch {
    return 'refused';
  }
}
