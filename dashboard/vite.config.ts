import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** How the application becomes the static files that are served at `/`. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'baseline-widely-available',
    // The content security policy lets nothing in that is not a file of this origin.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
