import './style/tokens.css';
import './style/base.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { session } from './api/session.ts';
import { App } from './app/app.tsx';
import { preload } from './app/pages.tsx';
import { preferredLanguage, SpeechContext, textsIn } from './text/language.ts';

/** A page whose files were replaced by a deployment is loaded again, once: what is missing then is missing for another reason. */
const RELOADED = 'reloaded';
window.addEventListener('vite:preloadError', (event) => {
  if (sessionStorage.getItem(RELOADED) !== null) return;
  event.preventDefault();
  sessionStorage.setItem(RELOADED, new Date().toISOString());
  window.location.reload();
});

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no root');

void session.look();
preload(window.location.pathname);
const language = preferredLanguage();
document.documentElement.lang = language;
const t = await textsIn(language);

createRoot(root).render(
  <StrictMode>
    <SpeechContext value={{ language, t }}>
      <App />
    </SpeechContext>
  </StrictMode>,
);
