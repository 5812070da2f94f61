import { spawn } from 'node:child_process';
import { platform } from 'node:os';

/** Opens a page if there is a desktop. Does not report whether that worked. */
export function openBrowser(url: URL): void {
  const command = openCommand();
  if (command === undefined) return;
  const child = spawn(command, [url.href], { stdio: 'ignore', detached: true });
  // The URL is on the screen as well, so a missing command is not a failure.
  child.on('error', () => undefined);
  child.unref();
}

function openCommand(): string | undefined {
  if (platform() === 'darwin') return 'open';
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  const hasDisplay = DISPLAY !== undefined || WAYLAND_DISPLAY !== undefined;
  return platform() === 'linux' && hasDisplay ? 'xdg-open' : undefined;
}
