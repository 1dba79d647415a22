"""`make deploy-check`: the images' steps and the services of docker-compose.yml in chroots, without a container engine.

    chroot → image → composed → __main__

What is read is what is deployed: Dockerfile, docker-compose.yml, .env.example, and the commands of docs/operations.md.
"""
